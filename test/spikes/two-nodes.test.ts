import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { openPostgres } from '../../src/adapters/stores/sql/postgres/postgres.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { openWatcher, prepareWatched } from '../support/spike-scene.ts'

const migrationsDir = fileURLToPath(new URL('../../migrations', import.meta.url))

async function openTwoNodes() {
  await using opened = new AsyncDisposableStack()
  const { url } = opened.use(await createScratchDatabase())
  const options = { url, answerTimeoutMs: 10_000 }
  const [one, two] = [opened.use(await openPostgres(options)), opened.use(await openPostgres(options))]
  await migrate(one, await readMigrations(migrationsDir))
  await prepareWatched(one)
  const [near, far] = [opened.use(await openWatcher(one)), opened.use(await openWatcher(two))]
  const kept = opened.move()
  return { near, far, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

describe('the spike monitors of two nodes', { skip: withoutPostgres }, () => {
  it('detect a spike over the sum of both nodes, and one of them acts', async () => {
    await using scene = await openTwoNodes()
    const { near, far } = scene
    const id = await near.enforce()
    const { revision } = await near.policyOf(id)
    near.countDecisions({ check: 'policy', policyId: id, version: 1 }, 10, { denials: 5 })
    await near.runMonitor()
    far.countDecisions({ check: 'policy', policyId: id, version: 1 }, 9, { denials: 5 })
    await far.runMonitor()
    assert.equal((await far.policyOf(id)).state, 'enforcing')
    near.countDecisions({ check: 'policy', policyId: id, version: 1 }, 1, { denials: 1 })
    far.countDecisions({ check: 'policy', policyId: id, version: 1 }, 1, { denials: 1 })
    await Promise.all([near.runMonitor(), far.runMonitor(), near.runMonitor(), far.runMonitor()])
    const { state, revision: after } = await far.policyOf(id)
    assert.deepEqual([state, after], ['paused', revision + 1])
    assert.equal((await near.automaticActions()).length, 1)
    assert.deepEqual([...near.errors, ...far.errors], [])
  })

  it('roll a configuration back once, even if they run at the same time', async () => {
    await using scene = await openTwoNodes()
    const { near, far } = scene
    const version = await near.save(true)
    for (const node of [near, far])
      node.countDecisions({ check: 'gateway', policyId: 'default', version }, 19, { denials: 19 })
    await Promise.all([near.runMonitor(), far.runMonitor()])
    for (const node of [near, far])
      node.countDecisions({ check: 'gateway', policyId: 'default', version }, 1, { denials: 1 })
    await Promise.all([near.runMonitor(), far.runMonitor()])
    assert.equal(await far.isRolledBack(), true)
    assert.equal((await far.automaticActions()).length, 1)
    assert.deepEqual([...near.errors, ...far.errors], [])
  })
})
