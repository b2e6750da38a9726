import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { createFastClock } from '../support/fast-clock.ts'
import { answerWith, question, startPaidApp, streamFrames, type PaidApp } from '../support/paid-app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import type { Script } from '../support/upstream.ts'
import { operatorOf } from '../support/operator.ts'
import { executeInFile } from '../support/sqlite-file.ts'

const start = 10_000
const cost = 15
const counted = { input: 12, output: 3 }
const secret = 'a secret of sixteen and more'
/** Clean text is sent as it arrives. Text near a denial threshold is held back as a whole. */
const messages = [{ role: 'user', content: 'What is the weather like in Paris in May?' }]

const send = ({ app }: PaidApp, more: object = {}): Promise<Response> =>
  app.post('/v1/messages', { ...question, messages, ...more })

async function figure({ app }: PaidApp, name: string): Promise<number> {
  const text = await (await app.get('/metrics')).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
}

async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** The messages of the log, newest first. */
async function messagesOf({ app }: PaidApp): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${app.adminKey}` }
  const page = (await (await app.get('/v1/organization/audit_logs', headers)).json()) as {
    data: { message: string }[]
  }
  return page.data.map(({ message }) => message)
}

/** A stream whose first text is sent at once, and its end when the test allows it. */
function heldStream(): { readonly script: Script; readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const [first = '', ...rest] = streamFrames(['It is mild in May, with some rain. '.repeat(10)], counted)
  return {
    release: () => resolve(),
    async script(response) {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      response.write(first)
      await promise
      response.end(rest.join(''))
    },
  }
}

/** A paid app whose database can be cut off. */
async function startBehindProxy(audit: object) {
  const opened = new AsyncDisposableStack()
  const database = opened.use(await createScratchDatabase())
  const url = new URL(database.url)
  const proxy = opened.use(await startTcpProxy({ host: url.hostname, port: Number(url.port) }))
  url.port = String(proxy.port)
  const folder = opened.use(await temporaryFolder())
  const storage = { database_url: url.href, data_dir: folder.path }
  const clock = createFastClock(1)
  const scene = opened.use(await startPaidApp({ config: { secret, audit }, storage, clock }))
  scene.upstream.answer(answerWith('Hello', counted))
  // By then the node has seen its own setup among the changes, and does not read the key again.
  for (let count = 0; count < 30; count++) await (await send(scene)).arrayBuffer()
  return {
    scene,
    proxy,
    clock,
    storage,
    balance: start - 30 * cost,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function assertSound({ app }: PaidApp): Promise<void> {
  const operator = operatorOf(app.app)
  assert.equal((await operator.verifyLedger()).broken, null)
  assert.equal((await operator.verifyAuditLog()).finding, undefined)
}

describe('a request that is rejected because the audit log cannot be written', () => {
  it('is not charged on embedded storage, and later requests do not reach the upstream', async () => {
    await using folder = await temporaryFolder()
    await using scene = await startPaidApp({
      config: { audit: { on_failure: 'refuse' } },
      storage: { data_dir: folder.path },
    })
    scene.upstream.answer(answerWith('Hello', counted))
    assert.equal((await send(scene)).status, 200)
    const file = join(folder.path, 'gatehouse.db')
    await executeInFile(
      file,
      `create trigger unwritable before insert on audit_event begin select raise(abort, 'the log is broken'); end`,
    )
    for (const stream of [false, true, false]) {
      const rejected = await send(scene, { stream })
      assert.equal(rejected.status, 503)
      // The first finds the fault; then storage counts as failing.
      assert.match(await rejected.text(), /audit log cannot be written|database rejects writes/)
    }
    assert.equal(scene.upstream.requests.length, 2) // the one before, and the one that detected the outage
    assert.equal(await scene.remaining(), start - cost)
    assert.equal((await scene.used()).credits, cost)
    assert.equal(await figure(scene, 'gatehouse_audit_events_lost_total'), 3)

    await executeInFile(file, 'drop trigger unwritable')
    await eventually(async () => (await send(scene)).status === 200)
    assert.equal(await scene.remaining(), start - 2 * cost)
    await assertSound(scene)
  })

  it('is not charged if the text of a stream was sent and only its end is withheld', async () => {
    await using folder = await temporaryFolder()
    await using scene = await startPaidApp({
      config: { audit: { on_failure: 'refuse' } },
      storage: { data_dir: folder.path },
    })
    const { script, release } = heldStream()
    scene.upstream.answer(script)
    const answer = await send(scene, { stream: true })
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail()
    let text = (await reader.read()).value ?? ''
    const file = join(folder.path, 'gatehouse.db')
    await executeInFile(
      file,
      `create trigger unwritable before insert on audit_event begin select raise(abort, 'the log is broken'); end`,
    )
    release()
    for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value
    assert.match(text, /It is mild in May/)
    assert.match(text, /event: error/)
    assert.doesNotMatch(text, /message_stop/)
    await eventually(async () => (await scene.used()).requests === 1)
    assert.equal((await scene.used()).credits, 0)
    assert.equal(await scene.remaining(), start)
    await assertSound(scene)
  })
})

it('a request that can be neither charged nor recorded is one lost event, and the next one does not reach the upstream', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'error', destination: { write: (line: string) => void lines.push(line) } })
  await using folder = await temporaryFolder()
  await using scene = await startPaidApp({ storage: { data_dir: folder.path }, log })
  scene.upstream.answer(answerWith('Hello', counted))
  assert.equal((await send(scene)).status, 200)
  const file = join(folder.path, 'gatehouse.db')
  const tables = ['charge', 'audit_event']
  const creating = (table: string): string =>
    `create trigger no_${table} before insert on ${table} begin select raise(abort, 'broken'); end`
  await executeInFile(file, ...tables.map(creating))
  assert.equal((await send(scene)).status, 503)
  assert.equal(scene.upstream.requests.length, 2)
  assert.equal((await send(scene, { stream: true })).status, 503)
  assert.equal(scene.upstream.requests.length, 2)
  assert.equal(await figure(scene, 'gatehouse_audit_events_lost_total'), 2)
  assert.equal(lines.filter((line) => line.includes('a charge could not be written')).length, 1)
  await executeInFile(file, ...tables.map((table) => `drop trigger no_${table}`))
  await eventually(async () => (await scene.app.get('/health/ready')).status === 200)
  assert.equal((await send(scene)).status, 200)
  assert.equal(await scene.remaining(), start - 2 * cost)
  assert.equal((await messagesOf(scene))[1], '2 events could not be written to the audit log.')
})

describe('a request that is rejected while PostgreSQL is unavailable', { skip: withoutPostgres }, () => {
  it('is not charged at that time, nor when spooled charges are written, nor after a restart', async () => {
    await using setup = await startBehindProxy({ on_failure: 'refuse' })
    const { scene, proxy, storage, balance } = setup
    const callCount = scene.upstream.requests.length
    const { script, release } = heldStream()
    scene.upstream.answer(script, answerWith('Hello', counted))
    const streamed = await send(scene, { stream: true })
    proxy.shut()
    release()
    assert.match(await streamed.text(), /event: error/)
    for (let count = 0; count < 5; count++) assert.equal((await send(scene, { stream: count % 2 === 1 })).status, 503)
    assert.equal(scene.upstream.requests.length, callCount + 1)
    await scene.app.app[Symbol.asyncDispose]()

    proxy.open()
    const config = { secret, audit: { on_failure: 'refuse' } }
    await using second = await startPaidApp({ config, storage, isFirst: false })
    await eventually(async () => (await figure(second, 'gatehouse_charges_waiting')) === 0)
    assert.equal(await second.remaining(), balance)
    assert.equal((await operatorOf(second.app.app).verifyLedger()).broken, null)
  })

  it('is reported in the log once it can be written, and the next one is answered and charged once', async () => {
    await using setup = await startBehindProxy({ on_failure: 'refuse' })
    const { scene, proxy, clock, balance } = setup
    proxy.shut()
    for (let count = 0; count < 5; count++) assert.equal((await send(scene)).status, 503)
    assert.equal(await figure(scene, 'gatehouse_audit_events_lost_total'), 5)
    proxy.open()
    // A rejected request would be another lost event, so the next one is sent when storage is known to be available.
    await eventually(async () => (await scene.app.get('/health/ready')).status === 200)
    clock.skip(1_000)
    assert.equal((await send(scene)).status, 200)
    await eventually(async () => (await figure(scene, 'gatehouse_charges_waiting')) === 0)
    assert.equal(await scene.remaining(), balance - cost)
    assert.deepEqual((await messagesOf(scene)).slice(0, 3), [
      'Answered by paid.',
      '5 events could not be written to the audit log.',
      'Answered by paid.',
    ])
    await assertSound(scene)
  })
})

describe('an answer of an organization that does not require audit', { skip: withoutPostgres }, () => {
  it('is sent and charged even if the configuration cannot be read again meanwhile', async () => {
    await using setup = await startBehindProxy({})
    const { scene, proxy, balance } = setup
    const { script, release } = heldStream()
    scene.upstream.answer(script)
    const streamed = await send(scene, { stream: true })
    const saved = await fetch(`${scene.app.url}/api/policy-gateway/config`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${scene.app.apiKey}` },
      body: JSON.stringify({ org_controls: { project_quota: { requests: 100_000 } } }),
    })
    assert.equal(saved.status, 200)
    proxy.shut()
    release()
    assert.match(await streamed.text(), /message_stop/)
    proxy.open()
    await eventually(async () => (await figure(scene, 'gatehouse_charges_waiting')) === 0)
    await eventually(async () => (await figure(scene, 'gatehouse_audit_events_waiting')) === 0)
    assert.equal(await scene.remaining(), balance - cost)
    await assertSound(scene)
  })
})
