import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { brotliCompressSync, createGzip, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { createDecompression } from './decompression.ts'
import { ask, askAndFail, jsonHeaders, streamHeaders } from '../../../../test/support/provider-kit.ts'
import { requestBy } from '../../../../test/support/requests.ts'

const document = JSON.stringify({ choices: [{ message: { content: 'Grüße' }, finish_reason: 'stop' }] })
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const frames = [chunk({ content: 'Grü' }), chunk({ content: 'ße' }), chunk({}, 'stop'), 'data: [DONE]\n\n']

const packers = {
  gzip: gzipSync,
  'X-GZIP': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}
const textOf = async (asked: Parameters<typeof ask>[0]): Promise<unknown> => (await ask(asked)).folded.blocks

describe('an answer that was compressed though nobody asked for it', () => {
  for (const [encoding, pack] of Object.entries(packers)) {
    it(`is read in ${encoding}, whole and as a stream, wherever it is cut`, async () => {
      const whole = { headers: { ...jsonHeaders, 'content-encoding': encoding }, chunks: [pack(document)] }
      assert.deepEqual(await textOf({ kind: 'openai-chat', answer: whole }), [{ type: 'text', text: 'Grüße' }])
      const bytes = pack(frames.join(''))
      const chunks = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
      const stream = { headers: { ...streamHeaders, 'content-encoding': encoding }, chunks }
      assert.deepEqual(await textOf({ kind: 'openai-chat', answer: stream }), [{ type: 'text', text: 'Grüße' }])
    })
  }

  it('is given out as it comes', async () => {
    const packed = await flushed(frames)
    const answer = { headers: { ...streamHeaders, 'content-encoding': 'gzip' }, chunks: packed }
    const { pieces } = await ask({ kind: 'openai-chat', answer, request: requestBy('messages') })
    assert.ok(pieces.length > 1, `${pieces.length} pieces`)
  })

  it('is a failure where it is broken or cut', async () => {
    const headers = { ...jsonHeaders, 'content-encoding': 'gzip' }
    for (const bytes of [Buffer.from(document), gzipSync(document).subarray(0, -4)]) {
      const { kind } = await askAndFail({ kind: 'openai-chat', answer: { headers, chunks: [bytes] } })
      assert.equal(kind, 'upstream_failed')
    }
  })

  it('is unpacked no further than there is room for', async () => {
    const packed = brotliCompressSync(Buffer.alloc(8 * 1024 * 1024))
    const unread = unpackAll(packed, { isRead: false })
    await unpackAll(packed, { isRead: true }).ended // by then the other one would have come to its end, too
    assert.ok(unread.byteCount() < 1024 * 1024, `${unread.byteCount()} bytes`)
    unread.resume()
    await unread.ended
    assert.equal(unread.byteCount(), 8 * 1024 * 1024)
  })

  it('is the refusal that it says', async () => {
    const error = gzipSync(JSON.stringify({ error: { message: 'No such thing.', type: 'invalid_request_error' } }))
    const headers = { ...jsonHeaders, 'content-encoding': 'gzip' }
    const fault = await askAndFail({ kind: 'openai-chat', answer: { status: 400, headers, chunks: [error] } })
    assert.match(fault.message, /No such thing/)
  })
})

describe('a byte order mark', () => {
  it('is no part of the JSON behind it', async () => {
    const answer = { headers: jsonHeaders, chunks: [`\ufeff${document}`] }
    assert.deepEqual(await textOf({ kind: 'openai-chat', answer }), [{ type: 'text', text: 'Grüße' }])
  })
})

/** Unpacks some bytes, and pauses at the first of what is in them unless somebody reads. */
function unpackAll(packed: Buffer, { isRead }: { isRead: boolean }) {
  const { promise: ended, resolve: onEnd, reject: onBroken } = Promise.withResolvers<void>()
  let [byteCount, isPaused] = [0, isRead]
  const onBytes = (bytes: Buffer): void => {
    byteCount += bytes.length
    if (!isPaused) unpacking?.pause()
    isPaused = true
  }
  const unpacking = createDecompression('br', { onBytes, onEnd, onBroken })
  unpacking?.push(packed)
  unpacking?.end()
  return { ended, byteCount: () => byteCount, resume: () => unpacking?.resume() }
}

/** Each frame packed so that it can be read before the next one is there. */
async function flushed(texts: readonly string[]): Promise<Buffer[]> {
  const packer = createGzip()
  const packed: Buffer[] = []
  packer.on('data', (bytes: Buffer) => packed.push(bytes))
  for (const text of texts) {
    packer.write(text)
    await new Promise<void>((resolve) => packer.flush(constants.Z_SYNC_FLUSH, resolve))
  }
  packer.end()
  await once(packer, 'end') // `finish` comes before the last bytes do
  return packed
}
