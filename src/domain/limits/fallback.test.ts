import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import type { Random } from '../../base/random.ts'
import type { AdmissionRequest } from './admission.ts'
import { limitSettings } from '../../../test/support/limit-settings.ts'
import { createLimitEngine } from './engine/engine.ts'
import { createFallbackStore, type FallbackOptions } from './fallback.ts'
import { unlimited } from './scopes.ts'
import { LimitStoreError, type LimitStore, type SharedLimitStore } from './store.ts'

const random: Random = { bytes: (count) => new Uint8Array(count), fraction: () => 0.5 } // probes exactly each second
const subject = { organization: 'org', project: 'project', key: 'key' }
const limits = { key: { ...unlimited, rpm: 10 }, project: unlimited, organization: unlimited }

function request(requestId: string, micro: number | null = null): AdmissionRequest {
  return { ...subject, limits, mode: 'full', requestId, tokens: 0, micro }
}

/** Shared counters that can be taken away, with all that was asked of them. */
function createShared(nowMs: () => number) {
  const engine = createLimitEngine({ nowMs, epoch: 'shared', settings: limitSettings })
  const state = { isDown: false, reason: 'unreachable' as LimitStoreError['reason'], asked: [] as string[] }
  const ask = <T>(what: string, answer: () => T): Promise<T> => {
    state.asked.push(what)
    const error = new LimitStoreError(state.reason, 'gone')
    return state.isDown ? Promise.reject(error) : Promise.resolve(answer())
  }
  const store: SharedLimitStore = {
    admit: (asked) => ask('admit', () => engine.admit(asked)),
    settle: (settlement) => ask('settle', () => engine.settle(settlement)),
    leave: (left) => ask('leave', () => engine.leave(left)),
    renew: (renewals) => ask('renew', () => engine.renew(renewals)),
    grant: (grant) => ask('grant', () => engine.grant(grant)),
    close: (slice) => ask('close', () => engine.close(slice)),
    accounts: (organization) => ask('accounts', () => engine.accounts(organization)),
    probe: () => ask('probe', () => undefined),
  }
  return { state, store, engine }
}

function createScene(more: Partial<FallbackOptions> = {}) {
  const { clock, pass, waiting } = createHandClock()
  const shared = createShared(clock.monotonicMs)
  const local = createLimitEngine({ nowMs: clock.monotonicMs, epoch: 'local', settings: limitSettings })
  const changes: boolean[] = []
  const failures: [keyof LimitStore, string][] = []
  const store = createFallbackStore({
    shared: shared.store,
    local,
    nodes: () => 2,
    clock,
    random,
    onChange: (isDegraded) => void changes.push(isDegraded),
    onFailure: (operation, { reason }) => void failures.push([operation, reason]),
    ...more,
  })
  const fail = async (times: number): Promise<void> => {
    shared.state.isDown = true
    for (let count = 0; count < times; count++) await store.admit(request(`failed_${count}`))
  }
  return { store, shared, local, changes, failures, pass, waiting, fail }
}

describe('the store with a fallback', () => {
  it('asks the shared counters while they answer', async () => {
    const { store, shared, local } = createScene()
    await store.admit(request('one'))
    assert.equal(await store.settle({ ...subject, requestId: 'one', tokens: 0, micro: 0 }), 'settled')
    assert.deepEqual(shared.state.asked, ['admit', 'settle'])
    assert.equal(local.size.tenants, 0)
  })

  it('answers a call that failed from its own counters, at its share of the limit', async () => {
    const { store, fail, failures } = createScene()
    await fail(0)
    const verdict = await store.admit(request('one'))
    assert.equal(verdict.admitted, true)
    assert.deepEqual(verdict.standing.key.rpm, { limit: 5, remaining: 4, resetMs: 61_000 })
    assert.deepEqual(failures, [['admit', 'unreachable']])
  })

  it('stops asking after three failures within a second', async () => {
    const { store, shared, changes, fail } = createScene()
    await fail(3)
    assert.deepEqual(changes, [true])
    assert.equal(store.isDegraded(), true)
    shared.state.asked.length = 0
    await store.admit(request('one'))
    assert.deepEqual(shared.state.asked, [])
  })

  it('goes on asking when failures are rarer', async () => {
    const { store, pass, fail } = createScene()
    for (let count = 0; count < 5; count++) {
      await fail(2)
      await pass(1_000)
    }
    assert.equal(store.isDegraded(), false)
  })

  it('probes each second, and returns when the shared counters do', async () => {
    const { store, shared, changes, pass, fail } = createScene()
    await fail(3)
    shared.state.asked.length = 0
    await pass(1_000)
    await pass(1_000)
    assert.deepEqual(shared.state.asked, ['probe', 'probe'])
    shared.state.isDown = false
    await pass(1_000)
    assert.deepEqual(changes, [true, false])
    assert.equal((await store.admit(request('back'))).standing.key.rpm?.limit, 10)
  })

  it('settles and renews a request where it was admitted', async () => {
    const { store, shared, pass, fail } = createScene()
    await store.admit(request('before'))
    await fail(3)
    await store.admit(request('meanwhile'))
    shared.state.isDown = false
    await pass(1_000)
    shared.state.asked.length = 0
    await store.renew(['before', 'meanwhile'].map((requestId) => ({ ...subject, requestId })))
    assert.deepEqual(shared.state.asked, ['renew'])
    assert.equal(await store.settle({ ...subject, requestId: 'meanwhile', tokens: 0, micro: 0 }), 'settled')
    assert.deepEqual(shared.state.asked, ['renew'])
    assert.equal(await store.settle({ ...subject, requestId: 'before', tokens: 0, micro: 0 }), 'settled')
  })

  it('says so when a settlement cannot reach the counters that hold it', async () => {
    const { store, fail } = createScene()
    await store.admit(request('before'))
    await fail(3)
    assert.equal(await store.settle({ ...subject, requestId: 'before', tokens: 0, micro: 0 }), 'unreachable')
  })

  it('says such a settlement again once the shared counters are back, so that nobody waits for its place', async () => {
    const { store, shared, pass, fail } = createScene()
    for (const id of ['one', 'two']) await store.admit(request(id))
    await fail(3)
    for (const id of ['one', 'two']) await store.settle({ ...subject, requestId: id, tokens: 0, micro: 0 })
    shared.state.isDown = false
    await pass(1_000)
    assert.equal(shared.engine.accounts('org')[0]?.holds.length, 2)
    shared.state.asked.length = 0
    await store.admit({ ...subject, limits, mode: 'count' })
    await pass(0)
    assert.deepEqual(shared.state.asked, ['admit', 'settle', 'settle'])
    assert.deepEqual(shared.engine.accounts('org'), [])
  })

  it('does not say a settlement again that the shared counters heard and could not make', async () => {
    const { store, shared, pass } = createScene()
    await store.admit(request('one'))
    Object.assign(shared.state, { isDown: true, reason: 'script' })
    await store.settle({ ...subject, requestId: 'one', tokens: 0, micro: 0 })
    shared.state.isDown = false
    shared.state.asked.length = 0
    await store.admit(request('two'))
    await pass(0)
    assert.deepEqual(shared.state.asked, ['admit'])
  })

  it('spends on its own only what was granted to its own life', async () => {
    const { store, fail } = createScene()
    await store.grant({ organization: 'org', epoch: 'shared', sliceId: 'shared_slice', amountMicro: 100, opens: true })
    await fail(3)
    const refused = await store.admit(request('one', 10))
    assert.deepEqual(refused.credits, { epoch: 'local', sliceId: null, leftMicro: 0 })
    await store.grant({ organization: 'org', epoch: 'local', sliceId: 'local_slice', amountMicro: 10, opens: true })
    const admitted = await store.admit(request('one', 10))
    assert.deepEqual(admitted.credits, { epoch: 'local', sliceId: 'local_slice', leftMicro: 0 })
    const late = await store.grant({
      organization: 'org',
      epoch: 'shared',
      sliceId: 'late',
      amountMicro: 1,
      opens: true,
    })
    assert.equal(late, 'unreachable')
  })

  it('takes back an admission whose answer was lost', async () => {
    const lost: string[] = []
    const { clock } = createHandClock()
    const { store: answering, engine } = createShared(clock.monotonicMs)
    const shared: SharedLimitStore = {
      ...answering,
      async admit(asked) {
        await answering.admit(asked)
        lost.push('answer')
        throw new LimitStoreError('unreachable', 'too late')
      },
    }
    const { store, local } = createScene({ shared })
    await store.admit(request('one'))
    await new Promise(setImmediate)
    assert.deepEqual(lost, ['answer'])
    assert.equal(engine.isOpen({ ...subject, requestId: 'one' }), false)
    assert.equal(local.isOpen({ ...subject, requestId: 'one' }), true)
  })

  it('does not read half of the accounts', async () => {
    const { store, fail } = createScene()
    await fail(3)
    await assert.rejects(async () => store.accounts('org'), LimitStoreError)
  })

  it('hides no bug: what is not a failure of the store is thrown on', async () => {
    const { shared } = createScene()
    const { store } = createScene({ shared: { ...shared.store, admit: () => Promise.reject(new TypeError('a bug')) } })
    await assert.rejects(async () => store.admit(request('one')), TypeError)
  })

  it('stops probing when it is disposed of', async () => {
    const { store, waiting, fail } = createScene()
    await fail(3)
    assert.equal(waiting(), 1)
    store[Symbol.dispose]()
    assert.equal(waiting(), 0)
  })
})
