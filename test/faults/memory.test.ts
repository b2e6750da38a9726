import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { temporaryFolder } from '../support/temporary-folder.ts'

const program = new URL('../../bin/gatehouse.mjs', import.meta.url).pathname

/** An app in its own process with little memory. */
async function startSmallApp() {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(await temporaryFolder())
  const child = spawn(process.execPath, ['--max-old-space-size=192', program, 'serve'], {
    cwd: folder.path,
    env: { PATH: process.env['PATH'], GATEHOUSE_PORT: '0', GATEHOUSE_LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  opened.defer(async () => {
    child.kill('SIGTERM')
    await exited
  })
  let url: string | undefined
  let apiKey: string | undefined
  for await (const line of createInterface(child.stdout)) {
    url ??= /"api":"([^"]+)\/v1"/.exec(line)?.[1]
    apiKey ??= /ak_\w{38}/.exec(line)?.[0]
    if (url !== undefined && apiKey !== undefined) break
  }
  child.stdout.resume()
  const kept = opened.move()
  return { url, apiKey, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

const before = Buffer.from('{"model":"gatehouse-echo","max_tokens":5,"messages":[{"role":"user","content":"')
const after = Buffer.from('"}]}')
const words = Buffer.alloc(1 << 20, 'word ')
const large = 24

/** Sends a request of this size in megabytes without holding it in memory. Its end is sent only if it is given. */
function send({ url = '', apiKey = '' }, megabytes: number, end: readonly Buffer[]) {
  const length = before.length + megabytes * words.length + after.length
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'content-length': length }
  const outgoing = request(`${url}/v1/messages`, { method: 'POST', headers, agent: false })
  // A caller that is rejected while it still sends may see the connection closed before it reads the response.
  const answered = new Promise<IncomingMessage>((resolve, reject) =>
    outgoing.on('response', resolve).on('error', reject),
  )
  Readable.from([before, ...Array.from({ length: megabytes }, () => words), ...end]).pipe(outgoing, { end: false })
  return { outgoing, answered }
}

const statusOf = (app: Parameters<typeof send>[0], megabytes: number): Promise<number | undefined> =>
  send(app, megabytes, [after]).answered.then(
    (answer) => answer.resume().statusCode,
    () => undefined,
  )

it('large requests above the memory budget are rejected, and do not affect other requests', async () => {
  await using app = await startSmallApp()
  const begun = Array.from({ length: 4 }, () => send(app, large, []))
  const rejected = await Promise.any(begun.map(({ answered }) => answered))
  assert.deepEqual([rejected.statusCode, rejected.headers['retry-after']], [503, '1'])
  assert.equal(JSON.parse(await text(rejected)).error.type, 'api_error')
  assert.equal(await statusOf(app, 0), 200)
  for (const { outgoing } of begun) outgoing.destroy()
  const isRejected = async (): Promise<boolean> => [503, undefined].includes(await statusOf(app, large))
  while (await isRejected()) await new Promise((resolve) => setTimeout(resolve, 50)) // until the budget is free
})
