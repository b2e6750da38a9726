import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { temporaryFolder } from '../support/temporary-folder.ts'

const program = new URL('../../bin/gatehouse.mjs', import.meta.url).pathname

/** A house in a process of its own with little memory. */
async function startSmallHouse() {
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
    url ??= /API +(\S+)\/v1/.exec(line)?.[1]
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

/** Asks with so many megabytes, which are never all in the memory of the test. */
async function ask({ url = '', apiKey = '' }, megabytes: number) {
  const length = before.length + megabytes * words.length + after.length
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'content-length': length }
  const asking = request(`${url}/v1/messages`, { method: 'POST', headers, agent: false })
  pipeline([before, ...Array.from({ length: megabytes }, () => words), after], asking, () => undefined)
  const [answer] = await once(asking, 'response')
  return { status: answer.statusCode, retryAfter: answer.headers['retry-after'], body: await text(answer) }
}

it('more large requests at once than the memory holds are turned away, and take nobody else with them', async () => {
  await using house = await startSmallHouse()
  // On a busy machine somebody may be too slow to hear why the connection was closed.
  const asked = await Promise.allSettled(Array.from({ length: 30 }, () => ask(house, 24)))
  const answers = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const turnedAway = answers.filter(({ status }) => status === 503)
  assert.ok(turnedAway.length > 0)
  for (const { retryAfter, body } of turnedAway) {
    assert.equal(retryAfter, '1')
    assert.equal(JSON.parse(body).error.type, 'api_error')
  }
  assert.ok((await ask(house, 24)).status !== 503) // there is room again
  assert.equal((await ask(house, 0)).status, 200)
})
