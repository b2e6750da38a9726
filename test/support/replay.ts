import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import type { FoldedAnswer } from '../../src/domain/inference/fold.ts'
import type { CallerFormat } from '../../src/domain/inference/formats.ts'
import type { Kind } from './provider-kit.ts'
import { ask, askAndFail, jsonHeaders, streamHeaders } from './provider-kit.ts'
import { requestBy } from './requests.ts'

export type Recordings = {
  readonly kind: Kind
  /** Undefined if no caller uses the format of this kind. */
  readonly dialect?: CallerFormat
  readonly folder: string
  /** A frame that reports an error of the upstream. */
  readonly errorFrame: string
  /** Recordings whose frames would break the clients of their own dialect. */
  readonly nonconforming?: readonly string[]
}

/**
 * Every recorded stream must decode to its `.expected.json`: as a stream, as the recorded whole answer, in one chunk and byte
 * by byte. A truncated stream must be an error, never a normal end.
 */
export function replayRecordings(recordings: Recordings): void {
  for (const file of globSync(join(recordings.folder, '*.sse')).toSorted()) {
    const name = basename(file, '.sse')
    describe(`${recordings.kind}, recorded: ${name}`, () => replay(recordings, file.slice(0, -'.sse'.length)))
  }
}

function replay({ kind, dialect, errorFrame, nonconforming = [] }: Recordings, path: string): void {
  const request = requestBy(dialect ?? 'chat', { stop: ['END'] })
  const bytes = readFileSync(`${path}.sse`)
  const stream = (chunks: readonly Uint8Array[], inOneRead = true) => ({ headers: streamHeaders, chunks, inOneRead })
  const expected: unknown = JSON.parse(readFileSync(`${path}.expected.json`, 'utf8'))

  it('decodes to the expected answer', async () => {
    assert.deepEqual(plain((await ask({ kind, request, answer: stream([bytes]) })).folded), expected)
  })

  // Nonconforming imitations are recorded only as streams.
  if (existsSync(`${path}.json`)) {
    it('decodes to the same answer without streaming', async () => {
      const answer = { headers: jsonHeaders, chunks: [readFileSync(`${path}.json`)] }
      assert.deepEqual(plain((await ask({ kind, request, answer })).folded), expected)
    })
  }

  it('decodes to the same events byte by byte', async () => {
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte))
    const whole = await ask({ kind, request, answer: stream([bytes]) })
    assert.deepEqual((await ask({ kind, request, answer: stream(single) })).events, whole.events)
  })

  // One recording with all kinds of characters is enough for this.
  if (path.endsWith('/text'))
    it('decodes to the same events wherever it is split in two', async () => {
      const whole = await ask({ kind, request, answer: stream([bytes]) })
      for (let at = 1; at < bytes.length; at++) {
        const halves = stream([bytes.subarray(0, at), bytes.subarray(at)])
        assert.deepEqual((await ask({ kind, request, answer: halves })).events, whole.events, `cut at ${at}`)
      }
    })

  const isNonconforming = dialect === undefined || nonconforming.includes(basename(path))
  it(`gives callers ${dialect === undefined ? '' : 'of its own format '}${isNonconforming ? 'none of its raw frames' : 'every raw frame unchanged'}`, async () => {
    const { chunks } = await ask({ kind, request, answer: stream([bytes]) })
    const frames = chunks.flatMap(({ raw }) => (raw?.kind === 'frames' ? raw.frames : []))
    assert.deepEqual(
      frames.map((frame) => frame.data),
      isNonconforming ? [] : dataOf(bytes),
    )
  })

  it('is an error wherever its connection breaks, an error frame follows, or it just ends', async () => {
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

  it('is an error if it ends within a frame', async () => {
    const fault = await askAndFail({
      kind,
      answer: stream([bytes.subarray(0, frameEnds(bytes)[0] ?? 0), Buffer.from('data: {"type":"cont')]),
    })
    assert.equal(fault.kind, 'upstream_failed')
  })
}

/** As in a JSON file: without undefined fields. */
const plain = (folded: FoldedAnswer): unknown => JSON.parse(JSON.stringify(folded))

const dataOf = (bytes: Buffer): string[] =>
  Array.from(
    bytes
      .toString()
      .replace('\uFEFF', '')
      .matchAll(/^data: (.*?)\r?$/gm),
    (match) => match[1] ?? '',
  )

/** The end of each frame, with position 0 and without the end of the stream. */
function frameEnds(bytes: Buffer): number[] {
  const ends = [0]
  for (const match of bytes.toString('latin1').matchAll(/\r?\n\r?\n/g)) ends.push(match.index + match[0].length)
  return ends.slice(0, -1)
}

/** A chat answer is complete with its finish reason; the other formats are complete with their last frame. */
function endingFrame(kind: Kind, bytes: Buffer): number {
  if (kind !== 'openai-chat') return Infinity
  const finish = bytes.toString('latin1').search(/"finish_reason":"/)
  return frameEnds(bytes).filter((end) => end <= finish).length
}
