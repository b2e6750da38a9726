import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { engines } from '../support/engines.ts'
import { costFileKey, openCostFileScene } from '../support/cost-file-scene.ts'
import { s3Error } from '../support/s3-store.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The scene begins here. */
const startMs = Date.UTC(2026, 0, 1)
const keyOf = (days: number): string => costFileKey(new Date(startMs + days * dayMs).toISOString().slice(0, 10))

describe('files of daily costs', () => {
  it('are written for a finished day, an hour after its end, and not for the current one', async (t) => {
    await using scene = await openScene(t)
    const sink = await scene.addCostSink()
    await scene.charge('1', { atMs: startMs + 5 * hourMs, costMicro: 1_500, tags: { team: 'red' } })
    await scene.charge('2', { atMs: startMs + dayMs + 1, costMicro: 7 })
    scene.clock.setMs(startMs + dayMs + hourMs - 1)
    await scene.write()
    assert.deepEqual([...scene.objects.keys()], [])
    scene.clock.passMs(dayMs / 288)
    await scene.write()
    assert.deepEqual([...scene.objects.keys()], [keyOf(0)])
    const [row, ...others] = scene.rows(keyOf(0))
    assert.deepEqual(others, [])
    assert.deepEqual(
      [row?.['BilledCost'], row?.['ChargePeriodStart'], row?.['Tags'], row?.['x_Requests']],
      ['0.0000015', '2026-01-01T00:00:00Z', '{"team":"red"}', '1'],
    )
    const { headers } = scene.objects.get(keyOf(0)) ?? assert.fail()
    assert.deepEqual(
      [headers['content-type'], headers['content-encoding'], headers['if-none-match']],
      ['text/csv', 'gzip', undefined],
    )
    const { state, lastSuccessAtMs, costFiles } = await scene.health(sink)
    assert.deepEqual([state, lastSuccessAtMs], ['healthy', scene.clock.nowMs()])
    assert.deepEqual(costFiles, { count: 1, lastDay: startMs / 1000, lastDayWithoutTags: null })
  })

  it('begin with the last 35 days that have costs, one after the other', async (t) => {
    await using scene = await openScene(t)
    const days = [0, 4, 5, 38, 39]
    for (const each of days) await scene.charge(`r${each}`, { atMs: startMs + each * dayMs + hourMs })
    scene.clock.setMs(startMs + 40 * dayMs + 2 * hourMs)
    await scene.addCostSink()
    await scene.write()
    assert.deepEqual([...scene.objects.keys()], [keyOf(5), keyOf(38), keyOf(39)])
  })

  it('are written again after a late charge, and not if nothing has changed', async (t) => {
    await using scene = await openScene(t)
    const sink = await scene.addCostSink()
    for (const each of [0, 1]) await scene.charge(`r${each}`, { atMs: startMs + each * dayMs, costMicro: 5 })
    scene.clock.setMs(startMs + 2 * dayMs + hourMs)
    await scene.write()
    await scene.write()
    scene.clock.passMs(3 * dayMs)
    await scene.write()
    assert.equal(scene.receiver.requests.length, 2)
    await scene.charge('late', { atMs: startMs + hourMs, costMicro: 100 })
    await scene.charge('r0', { atMs: startMs + hourMs, costMicro: 9_999 }) // a charge that was written before
    await scene.write()
    assert.equal(scene.receiver.requests.length, 2, 'days are compared every five minutes')
    scene.clock.passMs(300_000)
    await scene.write()
    assert.equal(scene.receiver.requests.length, 3)
    assert.deepEqual(
      scene.rows(keyOf(0)).map((row) => [row['x_Requests'], row['BilledCost']]),
      [['2', '0.000000105']],
    )
    assert.equal((await scene.health(sink)).costFiles?.count, 2)
    scene.clock.passMs(300_000)
    await scene.write()
    assert.equal(scene.receiver.requests.length, 3)
  })

  it('are written once by two nodes', async (t) => {
    await using scene = await openScene(t)
    await scene.addCostSink()
    for (let day = 0; day < 5; day++) await scene.charge(`r${day}`, { atMs: startMs + day * dayMs })
    scene.clock.setMs(startMs + 6 * dayMs)
    const nodes = [scene.writer('a'), scene.writer('b')]
    await Promise.all(nodes.map((node) => node.writeDue()))
    await Promise.all(nodes.map((node) => node.writeDue()))
    assert.equal(scene.receiver.requests.length, 5)
    assert.deepEqual(scene.errors, [])
  })

  it('are tried again after an error, from the day that failed, and the sink shows the error', async (t) => {
    await using scene = await openScene(t)
    const sink = await scene.addCostSink()
    for (const day of [0, 1, 2]) await scene.charge(`r${day}`, { atMs: startMs + day * dayMs })
    scene.clock.setMs(startMs + 4 * dayMs)
    let calls = 0
    scene.fail(() => (++calls === 2 ? s3Error(503, 'SlowDown') : undefined))
    await scene.write()
    const failing = await scene.health(sink)
    assert.deepEqual(
      [failing.state, failing.lastError, failing.lastErrorAtMs],
      ['retrying', 'The store answered 503 (SlowDown).', scene.clock.nowMs()],
    )
    assert.deepEqual([failing.costFiles?.count, failing.lastSuccessAtMs], [1, scene.clock.nowMs()])
    assert.ok((failing.nextAttemptAtMs ?? 0) > scene.clock.nowMs())
    await scene.write()
    assert.equal(calls, 2, 'not before the next attempt')
    scene.clock.passMs(60_000)
    await scene.write()
    const { state, costFiles } = await scene.health(sink)
    assert.deepEqual([state, costFiles?.count, calls], ['healthy', 3, 4])
    assert.deepEqual(scene.outcomes, ['delivered', 'retry', 'delivered', 'delivered'])
  })

  it('wait for a change if the store rejects the credentials, and the log says so', async (t) => {
    await using scene = await openScene(t)
    const sink = await scene.addCostSink()
    await scene.charge('1', { atMs: startMs })
    scene.clock.setMs(startMs + 2 * dayMs)
    scene.fail(() => s3Error(403, 'AccessDenied'))
    await scene.write()
    assert.equal((await scene.health(sink)).state, 'auth_error')
    scene.clock.passMs(300_000)
    await scene.write()
    assert.equal(scene.receiver.requests.length, 1)
    scene.fail(undefined)
    const { health: _health, ...found } = (await scene.within((store) => store.find('org_1', sink.id))) ?? assert.fail()
    await scene.within(async (store) => store.replace({ ...found, version: 2 }, await store.secretsOf(sink)))
    await scene.write()
    assert.equal((await scene.health(sink)).state, 'healthy')
    const events = await scene.log.reads.list('org_1', { family: 'export' }, { limit: 9, order: 'asc' })
    assert.deepEqual(
      events.items.map(({ document }) => document.metadata.event_code),
      ['export.auth_error', 'export.recovered'],
    )
  })

  it('have no tags if the day would have too many rows with them', async (t) => {
    await using scene = await openScene(t)
    const sink = await scene.addCostSink()
    for (const team of ['a', 'b', 'c']) await scene.charge(team, { atMs: startMs, costMicro: 2, tags: { team } })
    scene.clock.setMs(startMs + 2 * dayMs)
    await scene.writer('a', { maxRows: 2 }).writeDue()
    assert.deepEqual(
      scene.rows(keyOf(0)).map((row) => [row['Tags'], row['x_Requests'], row['BilledCost']]),
      [['', '3', '0.000000006']],
    )
    assert.equal((await scene.health(sink)).costFiles?.lastDayWithoutTags, startMs / 1000)
  })

  it('are not lost if a charge arrives while a file is written', async (t) => {
    await using scene = await openScene(t)
    await scene.addCostSink()
    await scene.charge('1', { atMs: startMs, costMicro: 1 })
    scene.clock.setMs(startMs + 2 * dayMs)
    const onRead = async (): Promise<void> => void (await scene.charge('2', { atMs: startMs, costMicro: 2 }))
    await scene.writer('a', { onRead }).writeDue()
    scene.clock.passMs(300_000)
    await scene.write()
    assert.deepEqual(
      scene.rows(keyOf(0)).map((row) => row['BilledCost']),
      ['0.000000003'],
    )
    assert.equal(scene.receiver.requests.length, 1)
  })

  it('fail visibly if the costs cannot be read', async (t) => {
    await using scene = await openScene(t)
    const sink = await scene.addCostSink()
    await scene.charge('1', { atMs: startMs })
    scene.clock.setMs(startMs + 2 * dayMs)
    await scene.writer('a', { onRead: () => Promise.reject(new Error('too slow')) }).writeDue()
    const { state, lastError } = await scene.health(sink)
    assert.deepEqual([state, lastError], ['retrying', 'The gateway could not send; see its own log.'])
    assert.match(String(scene.errors[0]), /too slow/)
  })
})

async function openScene(t: TestContext) {
  const [sqlite] = engines
  const database = await (sqlite ?? assert.fail()).open()
  const scene = await openCostFileScene(t, database)
  const writer = scene.writer('this')
  return {
    ...scene,
    write: () => writer.writeDue(),
    async [Symbol.asyncDispose]() {
      await writer[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}
