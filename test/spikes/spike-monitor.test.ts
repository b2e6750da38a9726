import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { engines } from '../support/engines.ts'
import { openWatcher, prepareWatched } from '../support/spike-scene.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const [sqlite] = engines

async function openScene() {
  assert.ok(sqlite)
  await using opened = new AsyncDisposableStack()
  const database: Database = opened.use(await sqlite.open())
  await prepareWatched(database)
  const watcher = opened.use(await openWatcher(database))
  const kept = opened.move()
  return { ...watcher, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

const policy = (policyId: string, version = 1) => ({ check: 'policy', policyId, version }) as const
const gateway = (version: number) => ({ check: 'gateway', policyId: 'default', version }) as const

describe('the spike monitor', () => {
  it('pauses a policy at the request that completes a spike, and audits the numbers', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    const { revision } = await scene.policyOf(id)
    const nextDisabled = scene.nextDisabled()
    scene.countDecisions(policy(id), 14, 0)
    scene.countDecisions(policy(id), 6, 6)
    assert.deepEqual(await nextDisabled, { organizationId: 'org_1', subject: id, version: 1 })
    const paused = await scene.policyOf(id)
    assert.deepEqual([paused.state, paused.revision], ['paused', revision + 1])
    assert.deepEqual(await scene.automaticActions(), [
      {
        code: 'policy.paused',
        message: `The system paused the policy ${id}.`,
        details: {
          state: 'paused',
          spike: {
            version: 1,
            window_minutes: 15,
            requests: 20,
            denials: 6,
            denied_percent: 30,
            day_before: { requests: 0, denials: 0, denied_percent: 0 },
          },
        },
      },
    ])
  })

  it('does not pause a policy that denies as much as the day before', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions(policy(id), 19, 9) // too few to be a spike
    await scene.hand.pass(2 * hourMs)
    scene.countDecisions(policy(id), 100, 94) // a little less than twice 9 in 19
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    scene.countDecisions(policy(id), 100, 97) // now 191 in 200: a little more
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'paused')
  })

  it('ignores minutes before the window', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions(policy(id), 19, 19)
    await scene.hand.pass(15 * minuteMs)
    scene.countDecisions(policy(id), 19, 1)
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
  })

  it('counts a new version from zero', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions(policy(id), 19, 19)
    await scene.publishAnew(id)
    scene.countDecisions(policy(id, 2), 19, 19)
    scene.countDecisions(policy(id), 1, 1) // a late decision of the previous version: its spike no longer matters
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    scene.countDecisions(policy(id, 2), 1, 1)
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'paused')
  })

  it('counts from zero after the minute in which the policy was resumed', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions(policy(id), 40, 20)
    await scene.runMonitor()
    await scene.resume(id)
    scene.countDecisions(policy(id), 20, 20) // still the same minute
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    await scene.hand.pass(minuteMs)
    scene.countDecisions(policy(id), 19, 19)
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    scene.countDecisions(policy(id), 1, 1) // 20 of 20, after 40 of 60: not twice as much
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    assert.equal((await scene.automaticActions()).length, 1)
  })

  it('keeps its counts across a restart', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions(policy(id), 19, 19)
    await scene.restart()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    scene.countDecisions(policy(id), 1, 1)
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'paused')
  })

  it('rolls a configuration back if rollback_on_spike is set, until it is saved again', async () => {
    await using scene = await openScene()
    const careless = await scene.save(false)
    scene.countDecisions(gateway(careless), 40, 40)
    await scene.runMonitor()
    assert.equal(await scene.isRolledBack(), false)
    const careful = await scene.save(true)
    await scene.hand.pass(48 * hourMs)
    scene.countDecisions(gateway(careful), 20, 6)
    await scene.runMonitor()
    assert.equal(await scene.isRolledBack(), true)
    const [event] = await scene.automaticActions()
    assert.equal(event?.code, 'gateway.rollout.rolled_back')
    assert.equal(event.details?.['rollout_mode'], 'rollback')
    await scene.save(true)
    assert.equal(await scene.isRolledBack(), false)
    await scene.runMonitor()
    assert.equal(await scene.isRolledBack(), false)
  })

  it('does not count decisions that are not enforced', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions({ ...policy(id), isEnforced: false }, 50, 50)
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
  })
})
