import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { repeat } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { AdmissionRequest } from './admission.ts'
import { limitSettings } from '../../../test/support/limit-settings.ts'
import { createLimitEngine } from './engine/engine.ts'
import { createFallbackStore, type FallbackOptions } from './fallback.ts'
import { unlimited } from './scopes.ts'
import {
  LimitStoreError,
  type Contribution,
  type ContributeResult,
  type LimitStore,
  type SharedLimitStore,
} from './store.ts'

const random: Random = { bytes: (count) => new Uint8Array(count), fraction: () => 0.5 } // probes exactly each second
const subject = { organization: 'org', project: 'project', key: 'key' }
const limits = { key: { ...unlimited, rpm: 10 }, project: unlimited, organization: unlimited }

function requestOf(requestId: string, micro: number | null = null): AdmissionRequest {
  return { ...subject, limits, mode: 'full', requestId, tokens: 0, micro }
}

/** Shared counters that can become unreachable or lose their state, with a log of all calls. */
function createShared(nowMs: () => number) {
  const createEngine = () => createLimitEngine({ nowMs, epoch: 'shared', settings: limitSettings })
  let engine = createEngine()
  const known = new Set<string>()
  const nodes = new Set<string>()
  const state = { isDown: false, reason: 'unreachable' as LimitStoreError['reason'], calls: [] as string[] }
  const call = <T>(what: string, answer: () => T): Promise<T> => {
    state.calls.push(what)
    const error = new LimitStoreError(state.reason, 'unreachable')
    return state.isDown ? Promise.reject(error) : Promise.resolve(answer())
  }
  const contribute = ({ use, isAll }: Contribution): ContributeResult => {
    if (!isAll && !known.has(use.organization)) return 'forgotten'
    if (isAll && known.has(use.organization)) return 'known'
    known.add(use.organization)
    engine.contribute(use)
    return 'counted'
  }
  const store: SharedLimitStore = {
    admit: (request) => call('admit', () => (known.has(request.organization) ? engine.admit(request) : 'forgotten')),
    settle: (settlement) => call('settle', () => engine.settle(settlement)),
    leave: (left) => call('leave', () => engine.leave(left)),
    renew: (renewals) => call('renew', () => engine.renew(renewals)),
    grant: (grant) => call('grant', () => engine.grant(grant)),
    close: (slice) => call('close', () => engine.close(slice)),
    countBudgets: (count) => call('countBudgets', () => engine.countBudgets(count)),
    heldBudgets: (organization, counters) => call('heldBudgets', () => engine.heldBudgets(organization, counters)),
    accounts: (organization) => call('accounts', () => engine.accounts(organization)),
    contribute: (contribution) => call('contribute', () => contribute(contribution)),
    register: (node, hasContributed) =>
      call('register', () => (hasContributed ? Array.from(nodes.add(node)) : Array.from(nodes))),
    probe: () => call('probe', () => undefined),
  }
  const lose = (): void => {
    engine = createEngine()
    known.clear()
    nodes.clear()
  }
  return {
    state,
    store,
    lose,
    nodes,
    get engine() {
      return engine
    },
  }
}

function createScene(more: Partial<FallbackOptions> = {}) {
  const { clock, pass, waiting } = createHandClock()
  const shared = createShared(clock.monotonicMs)
  const [local, unsent] = ['local', 'unsent'].map((epoch) =>
    createLimitEngine({ nowMs: clock.monotonicMs, epoch, settings: limitSettings }),
  )
  assert.ok(local && unsent)
  const changes: boolean[] = []
  const failures: [keyof LimitStore, string][] = []
  const store = createFallbackStore({
    shared: shared.store,
    local,
    unsent,
    nodeId: 'this',
    membership: { count: () => 2, isAlive: () => true },
    clock,
    random,
    onChange: (isDegraded) => void changes.push(isDegraded),
    onFailure: (operation, { reason }) => void failures.push([operation, reason]),
    ...more,
  })
  repeat(clock, store.sync, 1_000) // as the job does
  /** Registers both nodes and the organization with the shared counters. */
  const registerAll = async (): Promise<void> => {
    shared.nodes.add('other')
    await store.admit({ ...subject, limits, mode: 'check', requestId: '', tokens: 0, micro: null })
    shared.state.calls.length = 0
  }
  const fail = async (times: number): Promise<void> => {
    shared.state.isDown = true
    for (let count = 0; count < times; count++) await store.admit(requestOf(`failed_${count}`))
  }
  return { store, shared, local, changes, failures, pass, waiting, fail, registerAll }
}

describe('the store with a fallback', () => {
  it('calls reachable shared counters once for an admission and once for a settlement', async () => {
    const { store, shared, registerAll } = createScene()
    await registerAll()
    await store.admit(requestOf('one'))
    assert.equal(await store.settle({ ...subject, requestId: 'one', tokens: 0, micro: 0 }), 'settled')
    assert.deepEqual(shared.state.calls, ['admit', 'settle'])
  })

  it('starts from what it admitted through the shared counters when it decides locally', async () => {
    const { store, registerAll, fail } = createScene()
    await registerAll()
    for (let count = 0; count < 4; count++) await store.admit(requestOf(`shared_${count}`))
    await fail(0)
    const verdicts = [await store.admit(requestOf('fifth')), await store.admit(requestOf('sixth'))]
    assert.deepEqual(
      verdicts.map(({ admitted }) => admitted),
      [true, false],
    )
  })

  it('sends the shared counters what it admitted without them, before they decide again', async () => {
    const { store, shared, pass, registerAll, fail } = createScene()
    await registerAll()
    await fail(3)
    shared.state.isDown = false
    await pass(1_000)
    shared.state.calls.length = 0
    const { limitStatus } = await store.admit(requestOf('back'))
    assert.equal(limitStatus.key.rpm?.remaining, 6)
    assert.deepEqual(new Set(shared.state.calls.slice(0, -1)), new Set(['contribute']))
    assert.equal(shared.state.calls.at(-1), 'admit')
    assert.equal(shared.engine.accounts('org')[0]?.holds.length, 4) // with their slots, until they are settled
    await store.settle({ ...subject, requestId: 'failed_0', tokens: 0, micro: 0 })
    assert.equal(shared.engine.accounts('org')[0]?.holds.length, 3)
  })

  it('counts no attempts that exceed only its share while others have not contributed', async () => {
    const { store, shared } = createScene() // two nodes, of which one has contributed
    const verdicts = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => await store.admit(requestOf(`early_${at}`))),
    )
    assert.equal(verdicts.filter(({ admitted }) => admitted).length, 5)
    const check = { ...subject, limits, mode: 'check', requestId: '', tokens: 0, micro: null } as const
    const { limitStatus } = shared.engine.admit(check)
    assert.equal(limitStatus.key.rpm?.remaining, 5)
  })

  it('also sends the usage of organizations without further requests', async () => {
    const { shared, pass, registerAll, fail } = createScene()
    await registerAll()
    await fail(3)
    shared.state.isDown = false
    await pass(1_000)
    await pass(1_000)
    assert.equal(shared.engine.accounts('org')[0]?.holds.length, 3)
  })

  it('sends all that it has admitted to shared counters that lost their state, and tries again', async () => {
    const { store, shared, registerAll } = createScene()
    await registerAll()
    for (let count = 0; count < 4; count++) await store.admit(requestOf(`shared_${count}`))
    shared.lose()
    shared.nodes.add('other')
    const { limitStatus } = await store.admit(requestOf('fifth'))
    assert.deepEqual([limitStatus.key.rpm?.limit, limitStatus.key.rpm?.remaining], [10, 5])
    assert.equal(await store.settle({ ...subject, requestId: 'shared_0', tokens: 0, micro: 0 }), 'settled')
  })

  it('admits no more than its share after a loss until every node has contributed', async () => {
    const { store, shared, registerAll } = createScene()
    await registerAll()
    shared.lose()
    for (let count = 0; count < 5; count++) {
      assert.equal((await store.admit(requestOf(`shared_${count}`))).admitted, true)
    }
    const rejected = await store.admit(requestOf('sixth'))
    assert.deepEqual([rejected.admitted, rejected.limitStatus.key.rpm?.limit], [false, 5])
  })

  it('admits up to the whole limit again once every node has contributed', async () => {
    const { store, shared, registerAll, pass } = createScene()
    await registerAll()
    shared.lose()
    for (let count = 0; count < 6; count++) await store.admit(requestOf(`shared_${count}`))
    shared.nodes.add('other')
    await pass(1_000)
    assert.equal((await store.admit(requestOf('more'))).limitStatus.key.rpm?.limit, 10)
  })

  it('counts requests in flight across a loss', async () => {
    const { store, shared, registerAll, pass } = createScene()
    const one = { ...limits, key: { ...unlimited, concurrent: 1 } }
    await registerAll()
    await store.admit({ ...requestOf('running'), limits: one })
    shared.lose()
    shared.nodes.add('other')
    const second = await store.admit({ ...requestOf('second'), limits: one })
    assert.deepEqual([second.admitted, 'reason' in second && second.reason], [false, 'concurrent'])
    await pass(20_000)
    await store.renew([{ ...subject, requestId: 'running' }])
    await pass(20_000)
    assert.equal((await store.admit({ ...requestOf('third'), limits: one })).admitted, false)
    await store.settle({ ...subject, requestId: 'running', tokens: 0, micro: 0 })
    assert.equal((await store.admit({ ...requestOf('fourth'), limits: one })).admitted, true)
  })

  it('contributes once for many concurrent requests of the same organization', async () => {
    const { store, shared, registerAll } = createScene()
    await registerAll()
    for (let count = 0; count < 3; count++) await store.admit(requestOf(`shared_${count}`))
    shared.lose()
    shared.nodes.add('other')
    const many = Array.from({ length: 9 }, async (_, count) => store.admit(requestOf(`many_${count}`)))
    const verdicts = await Promise.all(many)
    assert.equal(verdicts.filter(({ admitted }) => admitted).length, 7)
  })

  it('decides a failed call with its own counters, at its share of the limit', async () => {
    const { store, fail, failures } = createScene()
    await fail(0)
    const verdict = await store.admit(requestOf('one'))
    assert.equal(verdict.admitted, true)
    assert.deepEqual(verdict.limitStatus.key.rpm, { limit: 5, remaining: 4, resetMs: 61_000 })
    assert.deepEqual(failures, [['admit', 'unreachable']])
  })

  it('stops calling after three failures within a second', async () => {
    const { store, shared, changes, fail } = createScene()
    await fail(3)
    assert.deepEqual(changes, [true])
    assert.equal(store.isDegraded(), true)
    shared.state.calls.length = 0
    await store.admit(requestOf('one'))
    assert.deepEqual(shared.state.calls, [])
  })

  it('goes on calling when failures are rarer', async () => {
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
    shared.state.calls.length = 0
    await pass(1_000)
    await pass(1_000)
    assert.deepEqual(shared.state.calls, ['probe', 'probe'])
    shared.state.isDown = false
    await pass(1_000)
    assert.deepEqual(changes, [true, false])
    assert.equal((await store.admit(requestOf('back'))).limitStatus.key.rpm?.limit, 10)
  })

  it('settles and renews a request in the store that admitted it', async () => {
    const { store, shared, pass, fail } = createScene()
    await store.admit(requestOf('before'))
    await fail(3)
    await store.admit(requestOf('meanwhile'))
    shared.state.isDown = false
    await pass(1_000)
    shared.state.calls.length = 0
    await store.renew(['before', 'meanwhile'].map((requestId) => ({ ...subject, requestId })))
    assert.deepEqual(shared.state.calls, ['renew'])
    assert.equal(await store.settle({ ...subject, requestId: 'meanwhile', tokens: 0, micro: 0 }), 'settled')
    assert.deepEqual(shared.state.calls, ['renew'])
    assert.equal(await store.settle({ ...subject, requestId: 'before', tokens: 0, micro: 0 }), 'settled')
  })

  it('reports a settlement that cannot reach the counters with its hold', async () => {
    const { store, fail } = createScene()
    await store.admit(requestOf('before'))
    await fail(3)
    assert.equal(await store.settle({ ...subject, requestId: 'before', tokens: 0, micro: 0 }), 'unreachable')
  })

  it('sends such a settlement again once the shared counters are back, so that its slot becomes free', async () => {
    const { store, shared, pass, fail, registerAll } = createScene()
    await registerAll()
    for (const id of ['one', 'two']) await store.admit(requestOf(id))
    await fail(3)
    for (const id of ['one', 'two']) await store.settle({ ...subject, requestId: id, tokens: 0, micro: 0 })
    shared.state.isDown = false
    await pass(1_000)
    assert.equal(shared.engine.accounts('org')[0]?.holds.length, 2)
    shared.state.calls.length = 0
    await store.admit({ ...subject, limits, mode: 'count' })
    await pass(0)
    assert.deepEqual(shared.state.calls.slice(-3), ['admit', 'settle', 'settle'])
    const open = shared.engine.accounts('org')[0]?.holds.map(({ requestId }) => requestId)
    assert.deepEqual(open, ['failed_0', 'failed_1', 'failed_2'])
  })

  it('does not resend a settlement that the shared counters received and could not execute', async () => {
    const { store, shared, pass } = createScene()
    await store.admit(requestOf('one'))
    Object.assign(shared.state, { isDown: true, reason: 'script' })
    await store.settle({ ...subject, requestId: 'one', tokens: 0, micro: 0 })
    shared.state.isDown = false
    shared.state.calls.length = 0
    await store.admit(requestOf('two'))
    await pass(0)
    assert.deepEqual(shared.state.calls, ['admit'])
  })

  it('spends locally only what was granted to its own epoch', async () => {
    const { store, fail } = createScene()
    await store.grant({ organization: 'org', epoch: 'shared', sliceId: 'shared_slice', amountMicro: 100, opens: true })
    await fail(3)
    const rejected = await store.admit(requestOf('one', 10))
    assert.deepEqual(rejected.credits, { epoch: 'local', sliceId: null, leftMicro: 0 })
    await store.grant({ organization: 'org', epoch: 'local', sliceId: 'local_slice', amountMicro: 10, opens: true })
    const admitted = await store.admit(requestOf('one', 10))
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

  it('undoes an admission whose reply was lost', async () => {
    const lost: string[] = []
    const { clock } = createHandClock()
    const { store: replying, engine } = createShared(clock.monotonicMs)
    const shared: SharedLimitStore = {
      ...replying,
      async admit(request) {
        await replying.admit(request)
        lost.push('answer')
        throw new LimitStoreError('unreachable', 'too late')
      },
    }
    const { store, local } = createScene({ shared })
    await store.admit(requestOf('one'))
    await new Promise(setImmediate)
    assert.deepEqual(lost, ['answer'])
    assert.equal(engine.isOpen({ ...subject, requestId: 'one' }), false)
    assert.equal(local.isOpen({ ...subject, requestId: 'one' }), true)
  })

  it('does not return incomplete accounts', async () => {
    const { store, fail } = createScene()
    await fail(3)
    await assert.rejects(async () => store.accounts('org'), LimitStoreError)
  })

  it('rethrows errors that are not failures of the store', async () => {
    const { shared } = createScene()
    const { store } = createScene({ shared: { ...shared.store, admit: () => Promise.reject(new TypeError('a bug')) } })
    await assert.rejects(async () => store.admit(requestOf('one')), TypeError)
  })

  it('stops probing when it is disposed', async () => {
    const { store, waiting, fail } = createScene()
    await fail(3)
    const before = waiting()
    store[Symbol.dispose]()
    assert.equal(waiting(), before - 1)
  })
})
