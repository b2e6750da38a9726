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
  it('pauses a policy that asks for it, and audits the numbers', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    const { revision } = await scene.policyOf(id)
    scene.countDecisions(policy(id), 14, { denials: 0 })
    scene.countDecisions(policy(id), 6, { denials: 6 })
    await scene.runMonitor()
    assert.deepEqual(scene.actions, ['disabled'])
    const paused = await scene.policyOf(id)
    assert.deepEqual([paused.state, paused.revision], ['paused', revision + 1])
    assert.deepEqual(await scene.automaticActions(), [
      {
        code: 'policy.paused',
        message: `The system paused the policy ${id}.`,
        details: {
          state: 'paused',
          before: { state: 'enforcing' },
          spike: {
            version: 1,
            window_minutes: 15,
            requests: 20,
            denials: 6,
            denied_percent: 30,
            callers: 14,
            denied_callers: 6,
            keys: 14,
            denied_keys: 6,
            day_before: { requests: 0, denials: 0, denied_percent: 0 },
          },
        },
      },
    ])
  })

  it('reports a spike once while it lasts, and leaves a policy in force that does not ask to be paused', async () => {
    await using scene = await openScene()
    const id = await scene.enforce(false)
    for (let minute = 0; minute < 20; minute++) {
      scene.countDecisions(policy(id), 20, { denials: 20 })
      await scene.runMonitor()
      await scene.hand.pass(minuteMs)
    }
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    assert.deepEqual(scene.actions, ['reported'])
    const [event, ...more] = await scene.automaticActions()
    assert.deepEqual(more, [])
    assert.equal(event?.code, 'policy.denial_spike.reported')
    assert.equal(event.message, `The system reported the policy denial spike ${id}.`)
    assert.partialDeepStrictEqual(event.details, { name: 'P', spike: { version: 1, requests: 20, denied_callers: 20 } })
  })

  it('only reports a spike that begins more than a day after the publication or save', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    const version = await scene.save(true)
    await scene.hand.pass(24 * hourMs)
    scene.countDecisions(policy(id), 20, { denials: 20 })
    scene.countDecisions(gateway(version), 20, { denials: 20 })
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    assert.equal(await scene.isRolledBack(), false)
    assert.deepEqual(scene.actions, ['reported', 'reported'])
  })

  it('ignores one caller, however many requests it has denied', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions(policy(id), 500, { denials: 500, callerOf: () => ({ keyId: 'key_1', user: '' }) })
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    assert.deepEqual(scene.actions, [])
  })

  it('ignores one key among four that invents users', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions(policy(id), 4, { denials: 0 })
    const inventive = (at: number) => ({ keyId: 'key_1', user: `user ${at}` })
    scene.countDecisions(policy(id), 500, { denials: 500, callerOf: inventive })
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    assert.deepEqual(scene.actions, [])
  })

  it('does not pause a policy that denies as much as the day before', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions(policy(id), 19, { denials: 9 }) // too few to be a spike
    await scene.hand.pass(2 * hourMs)
    scene.countDecisions(policy(id), 100, { denials: 94 }) // a little less than twice 9 in 19
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    scene.countDecisions(policy(id), 100, { denials: 97 }) // now 191 in 200: a little more
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'paused')
  })

  it('ignores minutes before the window', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions(policy(id), 19, { denials: 19 })
    await scene.hand.pass(15 * minuteMs)
    scene.countDecisions(policy(id), 19, { denials: 1 })
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
  })

  it('counts a new version from zero', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions(policy(id), 19, { denials: 19 })
    await scene.publishAnew(id)
    scene.countDecisions(policy(id, 2), 19, { denials: 19 })
    scene.countDecisions(policy(id), 1, { denials: 1 }) // a late decision of the previous version: its spike no longer matters
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    scene.countDecisions(policy(id, 2), 1, { denials: 1 })
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'paused')
  })

  it('counts from zero after the minute in which the policy was resumed', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions(policy(id), 40, { denials: 20 })
    await scene.runMonitor()
    await scene.resume(id)
    scene.countDecisions(policy(id), 20, { denials: 20 }) // still the same minute
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    await scene.hand.pass(minuteMs)
    scene.countDecisions(policy(id), 19, { denials: 19 })
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    scene.countDecisions(policy(id), 1, { denials: 1 }) // 20 of 20, after 40 of 60: not twice as much
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    assert.equal((await scene.automaticActions()).length, 1)
  })

  it('keeps its counts across a restart', async () => {
    await using scene = await openScene()
    const id = await scene.enforce()
    scene.countDecisions(policy(id), 19, { denials: 19 })
    await scene.restart()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
    scene.countDecisions(policy(id), 1, { denials: 1 })
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'paused')
  })

  it('rolls a configuration back if rollback_on_spike is set, until it is saved again', async () => {
    await using scene = await openScene()
    const careless = await scene.save(false)
    scene.countDecisions(gateway(careless), 40, { denials: 40 })
    await scene.runMonitor()
    assert.equal(await scene.isRolledBack(), false)
    await scene.hand.pass(48 * hourMs)
    const careful = await scene.save(true)
    scene.countDecisions(gateway(careful), 20, { denials: 6 })
    await scene.runMonitor()
    assert.equal(await scene.isRolledBack(), true)
    const [report, event] = await scene.automaticActions()
    assert.equal(report?.code, 'gateway.denial_spike.reported')
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
    scene.countDecisions({ ...policy(id), isEnforced: false }, 50, { denials: 50 })
    await scene.runMonitor()
    assert.equal((await scene.policyOf(id)).state, 'enforcing')
  })
})
