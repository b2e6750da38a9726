import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { startTestApp, type TestApp } from '../support/app.ts'
import { inferenceEndpoints, send, type Exchange } from '../support/inference-endpoints.ts'

const { messages: endpoint } = inferenceEndpoints
const compress = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}

describe('a compressed request body', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
  })
  after(() => app[Symbol.asyncDispose]())

  const sendAs = (encoding: string, body: Uint8Array): Promise<Exchange> =>
    send(app, endpoint, { body, headers: { 'content-encoding': encoding } })
  const question = Buffer.from(JSON.stringify(endpoint.bodyOf('What is the weather like?', {})))

  for (const [encoding, compressed] of Object.entries(compress))
    it(`is read if it is sent as ${encoding}`, async () => {
      const { status, text } = await sendAs(encoding, compressed(question))
      assert.equal(status, 200, text)
      assert.match(text, /weather/)
    })

  it('is read as it is if the encoding is identity', async () => {
    assert.equal((await sendAs('identity', question)).status, 200)
  })

  it('is rejected if it is not what its encoding says, or is cut off', async () => {
    const whole = gzipSync(question)
    for (const body of [question, whole.subarray(0, whole.length - 12)]) {
      const { status, text } = await sendAs('gzip', body)
      assert.equal(status, 400, text)
      assert.match(text, /cannot be decompressed/)
    }
  })

  it('is rejected by its size after decompression, without decompressing all of it', async () => {
    // 8 GiB of spaces in 8 MB: a member of 64 MiB, repeated.
    const bomb = Buffer.concat(Array.from({ length: 128 }, () => member))
    const { status, text } = await sendAs('gzip', bomb)
    assert.equal(status, 413, text)
    assert.match(text, /over the limit of 33554432 bytes/)
  })
})

const member = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '))
