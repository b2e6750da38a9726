import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import type { FoldedAnswer } from '../../src/domain/inference/fold.ts'
import type { Dialect } from '../../src/domain/inference/request.ts'
import type { Kind } from './provider-kit.ts'
import { ask, askAndFail, jsonHeaders, streamHeaders } from './provider-kit.ts'
import { requestBy } from './requests.ts'

export type Recordings = {
  readonly kind: Kind
  readonly dialect: Dialect
  readonly folder: string
  /** A frame that says that the upstream failed. */
  readonly errorFrame: string
  /** Recordings whose frames would break the clients of their own dialect. */
  readonly careless: readonly string[]
}

/**
 * Every recorded stream must say what its `.expected.json` says, as a stream, as the whole answer beside it, in one
 * piece and byte by byte; and whatever is missing at its end must be an error, never a quiet end.
 */
export function replayRecordings(recordings: Recordings): void {
  for (const file of globSync(join(recordings.folder, '*.sse')).toSorted()) {
    const name = basename(file, '.sse')
    describe(`${recordings.kind}, recorded: ${name}`, () => replay(recordings, file.slice(0, -'.sse'.length)))
  }
}

function replay({ kind, dialect, errorFrame, careless }: Recordings, path: string): void {
  const request = requestBy(dialect, { stop: ['END'] })
  const bytes = readFileSync(`${path}.sse`)
  const stream = (chunks: readonly Uint8Array[], inOneRead = true) => ({ headers: streamHeaders, chunks, inOneRead })
  const expected: unknown = JSON.parse(readFileSync(`${path}.expected.json`, 'utf8'))

  it('says what was meant', async () => {
    assert.deepEqual(plain((await ask({ kind, request, answer: stream([bytes]) })).folded), expected)
  })

  // Careless imitators are only known as streams.
  if (existsSync(`${path}.json`)) {
    it('says the same as the whole answer', async () => {
      const answer = { headers: jsonHeaders, chunks: [readFileSync(`${path}.json`)] }
      assert.deepEqual(plain((await ask({ kind, request, answer })).folded), expected)
    })
  }

  it('says the same byte by byte', async () => {
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte))
    const whole = await ask({ kind, request, answer: stream([bytes]) })
    assert.deepEqual((await ask({ kind, request, answer: stream(single) })).events, whole.events)
  })

  // One recording with all kinds of characters is enough for this.
  if (path.endsWith('/text'))
    it('says the same wherever it is cut in two', async () => {
      const whole = await ask({ kind, request, answer: stream([bytes]) })
      for (let at = 1; at < bytes.length; at++) {
        const halves = stream([bytes.subarray(0, at), bytes.subarray(at)])
        assert.deepEqual((await ask({ kind, request, answer: halves })).events, whole.events, `cut at ${at}`)
      }
    })

  const isCareless = careless.includes(basename(path))
  it(`gives callers of its own dialect ${isCareless ? 'none of its frames' : 'every frame as it came'}`, async () => {
    const { chunks } = await ask({ kind, request, answer: stream([bytes]) })
    const frames = chunks.flatMap(({ raw }) => (raw?.kind === 'frames' ? raw.frames : []))
    assert.deepEqual(
      frames.map((frame) => frame.data),
      isCareless ? [] : dataOf(bytes),
    )
  })

  it('is an error wherever it is cut, falls into an error, or just ends', async () => {
    const ends = frameEnds(bytes)
    for (const end of ends.slice(0, endingFrame(kind, bytes))) {
      const begun = bytes.subarray(0, end)
      const cut = await askAndFail({ kind, answer: { ...stream([begun]), ending: 'cut' } })
      assert.equal(cut.kind, 'upstream_failed', `cut at ${end}`)
      const quiet = await askAndFail({ kind, answer: stream([begun]) })
      assert.equal(quiet.kind, 'upstream_failed', `ended at ${end}`)
      const failed = await askAndFail({ kind, answer: stream([begun, Buffer.from(errorFrame)]) })
      assert.equal(failed.kind, 'upstream_overloaded', `failed at ${end}`)
    }
  })

  it('is an error when it breaks off within a frame', async () => {
    const fault = await askAndFail({
      kind,
      answer: stream([bytes.subarray(0, frameEnds(bytes)[0] ?? 0), Buffer.from('data: {"type":"cont')]),
    })
    assert.equal(fault.kind, 'upstream_failed')
  })
}

/** As it would be written down: without what is undefined. */
const plain = (folded: FoldedAnswer): unknown => JSON.parse(JSON.stringify(folded))

const dataOf = (bytes: Buffer): string[] =>
  Array.from(
    bytes
      .toString()
      .replace('\uFEFF', '')
      .matchAll(/^data: (.*?)\r?$/gm),
    (match) => match[1] ?? '',
  )

/** Where each frame ends, the empty beginning included and the very end left out. */
function frameEnds(bytes: Buffer): number[] {
  const ends = [0]
  for (const match of bytes.toString('latin1').matchAll(/\r?\n\r?\n/g)) ends.push(match.index + match[0].length)
  return ends.slice(0, -1)
}

/** Chat servers have said everything once they have given a reason; the others only with their last frame. */
function endingFrame(kind: Kind, bytes: Buffer): number {
  if (kind !== 'openai-chat') return Infinity
  const finish = bytes.toString('latin1').search(/"finish_reason":"/)
  return frameEnds(bytes).filter((end) => end <= finish).length
}
