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

const compressors = {
  gzip: gzipSync,
  'X-GZIP': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}
const textOf = async (call: Parameters<typeof ask>[0]): Promise<unknown> => (await ask(call)).folded.blocks

describe('a response that was compressed without a request for it', () => {
  for (const [encoding, pack] of Object.entries(compressors)) {
    it(`is decoded from ${encoding}, whole and as a stream, wherever it is split`, async () => {
      const whole = { headers: { ...jsonHeaders, 'content-encoding': encoding }, chunks: [pack(document)] }
      assert.deepEqual(await textOf({ kind: 'openai-chat', answer: whole }), [{ type: 'text', text: 'Grüße' }])
      const bytes = pack(frames.join(''))
      const chunks = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
      const stream = { headers: { ...streamHeaders, 'content-encoding': encoding }, chunks }
      assert.deepEqual(await textOf({ kind: 'openai-chat', answer: stream }), [{ type: 'text', text: 'Grüße' }])
    })
  }

  it('is delivered incrementally', async () => {
    const compressed = await flushed(frames)
    const answer = { headers: { ...streamHeaders, 'content-encoding': 'gzip' }, chunks: compressed }
    const { chunks } = await ask({ kind: 'openai-chat', answer, request: requestBy('messages') })
    assert.ok(chunks.length > 1, `${chunks.length} chunks`)
  })

  it('fails if it is corrupt or truncated', async () => {
    const headers = { ...jsonHeaders, 'content-encoding': 'gzip' }
    for (const bytes of [Buffer.from(document), gzipSync(document).subarray(0, -4)]) {
      const { kind } = await askAndFail({ kind: 'openai-chat', answer: { headers, chunks: [bytes] } })
      assert.equal(kind, 'upstream_failed')
    }
  })

  it('is decompressed only as far as the buffer allows', async () => {
    const compressed = brotliCompressSync(Buffer.alloc(8 * 1024 * 1024))
    const unread = decompressAll(compressed, { isRead: false })
    await decompressAll(compressed, { isRead: true }).ended // without the pause the other one would have ended by now
    assert.ok(unread.byteCount() < 1024 * 1024, `${unread.byteCount()} bytes`)
    unread.resume()
    await unread.ended
    assert.equal(unread.byteCount(), 8 * 1024 * 1024)
  })

  it('is mapped like an uncompressed error response', async () => {
    const error = gzipSync(JSON.stringify({ error: { message: 'No such thing.', type: 'invalid_request_error' } }))
    const headers = { ...jsonHeaders, 'content-encoding': 'gzip' }
    const fault = await askAndFail({ kind: 'openai-chat', answer: { status: 400, headers, chunks: [error] } })
    assert.match(fault.message, /No such thing/)
  })
})

describe('a byte order mark', () => {
  it('is not part of the JSON', async () => {
    const answer = { headers: jsonHeaders, chunks: [`\ufeff${document}`] }
    assert.deepEqual(await textOf({ kind: 'openai-chat', answer }), [{ type: 'text', text: 'Grüße' }])
  })
})

/** Decompresses some bytes. Pauses at the first output unless `isRead`. */
function decompressAll(compressed: Buffer, { isRead }: { isRead: boolean }) {
  const { promise: ended, resolve: onEnd, reject: onBroken } = Promise.withResolvers<void>()
  let [byteCount, isPaused] = [0, isRead]
  const onBytes = (bytes: Buffer): void => {
    byteCount += bytes.length
    if (!isPaused) unpacking?.pause()
    isPaused = true
  }
  const unpacking = createDecompression('br', { onBytes, onEnd, onBroken })
  unpacking?.push(compressed)
  unpacking?.end()
  return { ended, byteCount: () => byteCount, resume: () => unpacking?.resume() }
}

/** Compresses each frame with a flush, so that it can be read before the next one arrives. */
async function flushed(texts: readonly string[]): Promise<Buffer[]> {
  const compressor = createGzip()
  const compressed: Buffer[] = []
  compressor.on('data', (bytes: Buffer) => compressed.push(bytes))
  for (const text of texts) {
    compressor.write(text)
    await new Promise<void>((resolve) => compressor.flush(constants.Z_SYNC_FLUSH, resolve))
  }
  compressor.end()
  await once(compressor, 'end') // `finish` is emitted before the last bytes
  return compressed
}
