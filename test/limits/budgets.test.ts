import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { connectRedis, type RedisConnection } from '../../src/adapters/stores/redis/connection.ts'
import { createRedisLimitStore } from '../../src/adapters/stores/redis/limit-store.ts'
import { systemClock } from '../../src/base/clock.ts'
import { isFault } from '../../src/base/fault.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { Budget } from '../../src/domain/budgets/budget.ts'
import type { CounterSpend } from '../../src/domain/budgets/counter-spend.ts'
import { inUnit, type AppliedBudget, type BudgetSpend } from '../../src/domain/budgets/counters.ts'
import { matches, memberOf, type Spender } from '../../src/domain/budgets/match.ts'
import type { Charge } from '../../src/domain/credits/charge.ts'
import { createSettle } from '../../src/domain/credits/settle.ts'
import type { Principal } from '../../src/domain/identity/principal.ts'
import type { Model } from '../../src/domain/inference/catalogue.ts'
import { createLimitEngine } from '../../src/domain/limits/engine/engine.ts'
import { createDividedStore, createFallbackStore } from '../../src/domain/limits/fallback.ts'
import { unlimited } from '../../src/domain/limits/scopes.ts'
import { LimitStoreError, type LimitStore, type SharedLimitStore } from '../../src/domain/limits/store.ts'
import { createAdmission } from '../../src/pipeline/billing/admission.ts'
import { createBudgets } from '../../src/pipeline/billing/budgets.ts'
import type { Lease } from '../../src/pipeline/billing/lease.ts'
import { limitSettings as settings } from '../support/limit-settings.ts'
import { startRedisServer, withoutRedisServer, type RedisServer } from '../support/redis-server.ts'

/** A token of output costs a micro-credit, and a credit is a dollar. */
const rates = { input: 0, cacheRead: 0, cacheWrite: 0, output: 1_000_000, version: '' }
const noLimits = { key: unlimited, project: unlimited, organization: unlimited }

const budgetOf = (id: string, fields: Partial<Budget>): Budget => ({
  id,
  organizationId: '',
  name: id,
  match: { projectIds: [], keyIds: [], models: [], users: [], tags: {} },
  per: 'all',
  unit: 'usd',
  amount: 1_000,
  period: 'month',
  timeZone: 'UTC',
  action: { type: 'deny' },
  warnAt: [],
  extra: null,
  state: 'active',
  revision: 1,
  createdAtMs: 0,
  updatedAtMs: 0,
  ...fields,
})

/** They overlap: each request spends from three or four of them. */
const budgets = [
  budgetOf('bud_all', { amount: 1_000 }),
  budgetOf('bud_project', { per: 'project', amount: 700 }),
  budgetOf('bud_key', { match: { projectIds: [], keyIds: ['key_0'], models: [], users: [], tags: {} }, amount: 300 }),
  budgetOf('bud_user', { per: 'user', amount: 400 }),
  budgetOf('bud_tokens', { unit: 'tokens', amount: 950 }),
]

/** What callers and their Redis do. */
type Step =
  | {
      readonly do: 'ask'
      readonly node: number
      readonly key: number
      readonly user: number
      readonly most: number
      readonly times: number
    }
  | { readonly do: 'settle'; readonly count: number; readonly percent: number }
  | { readonly do: Loss }
/** `cut`: the nodes cannot reach Redis. `freeze`: Redis keeps what it gets, and answers nothing. */
type Loss = 'empty' | 'kill' | 'cut' | 'freeze' | 'back'

const stepArbitrary = (...losses: readonly Loss[]): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('ask' as const),
        node: fc.nat(1),
        key: fc.nat(2),
        user: fc.nat(1),
        most: fc.integer({ min: 1, max: 90 }),
        times: fc.integer({ min: 1, max: 8 }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('settle' as const), count: fc.nat(9), percent: fc.nat(100) }),
    },
    ...losses.map((loss) => ({ weight: 1, arbitrary: fc.constant({ do: loss }) })),
  )

type Running = { readonly lease: Lease; readonly most: number }

/** A ledger that takes some time for a write and for a read, so that they overlap. */
function createLedger() {
  const charges = new Map<string, Charge>()
  return {
    charges,
    async settle(charge: Charge) {
      await setTimeout(0)
      charges.set(charge.requestId, charge)
      await setTimeout(0)
      return { outcome: charge.outcome, micro: charge.micro, isFirst: true, isSliceOpen: true, remainingMicro: 0 }
    },
    async readSpend(counters: readonly AppliedBudget[]): Promise<CounterSpend[]> {
      await setTimeout(0)
      const spent = counters.map((applied) => ({
        applied,
        spend: spentOf(charges.values(), applied.budget, applied.member),
      }))
      await setTimeout(0)
      return spent
    },
  }
}

const spenderOf = ({ projectId, keyId, model, userId, tags = {} }: Charge): Spender => ({
  projectId,
  keyId,
  model,
  userId,
  tags,
})

function spentOf(charges: Iterable<Charge>, budget: Budget, member: string | null): BudgetSpend {
  const spent = { micro: 0, tokens: 0, requests: 0 }
  for (const charge of charges) {
    const spender = spenderOf(charge)
    if (!matches(budget, spender) || memberOf(budget, spender) !== member) continue
    spent.micro += charge.costMicro ?? 0
    spent.tokens += charge.usage.outputTokens
    spent.requests++
  }
  return spent
}

type Nodes = {
  readonly stores: readonly LimitStore[]
  lose(loss: Loss): Promise<void>
}

async function play({ stores, lose }: Nodes, steps: readonly Step[]) {
  const organizationId = `org_${randomUUID()}`
  const own = budgets.map((budget) => ({ ...budget, organizationId }))
  const ledger = createLedger()
  const admissions = stores.map((limits) => admissionOf(limits, own, ledger))
  const running: Running[] = []
  let requestCount = 0
  /** What may be spent beyond an amount, because it was in flight when counters were lost or were no longer shared. */
  let inFlightAtLoss = 0

  const ask = async ({ node, key, user, most }: Extract<Step, { do: 'ask' }>): Promise<void> => {
    const principal = {
      id: `key_${key}`,
      projectId: `project_${key % 2}`,
      organization: { id: organizationId, metered: false },
    } as Principal
    try {
      const lease = await admissions[node % admissions.length]?.admit({
        requestId: `request_${requestCount++}`,
        principal,
        model: { name: 'model', contextTokens: 1_000, price: {} } as Model,
        userId: `user_${user}`,
        expected: usageOf(0),
        outputLimit: { tokens: most } as never,
        signal: new AbortController().signal,
      })
      if (lease !== undefined) running.push({ lease, most })
    } catch (error) {
      assert.ok(isFault(error) && error.code === 'budget_exceeded', String(error))
    }
  }
  for (const step of steps) {
    if (step.do === 'ask') await Promise.all(Array.from({ length: step.times }, () => ask(step)))
    else if (step.do === 'settle') {
      const ended = running.splice(0, step.count)
      await Promise.all(
        ended.map(({ lease, most }) => lease.settle('answered', usageOf(Math.floor((most * step.percent) / 100)))),
      )
    } else {
      inFlightAtLoss += running.reduce((sum, { most }) => sum + most, 0)
      await lose(step.do)
    }
  }
  for (const { lease, most } of running) await lease.settle('answered', usageOf(most))
  return { own, charges: [...ledger.charges.values()], inFlightAtLoss }
}

const usageOf = (outputTokens: number) => ({
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens,
  reasoningTokens: 0,
  source: 'reported' as const,
})

function admissionOf(limits: LimitStore, own: readonly Budget[], ledger: ReturnType<typeof createLedger>) {
  const spentOfBudget = createBudgets({
    activeBudgetsOf: () => own,
    readSpend: ledger.readSpend,
    limits,
    clock: systemClock,
    creditUsd: 1,
  })
  return createAdmission({
    limits,
    budgets: spentOfBudget,
    limitsOf: () => noLimits,
    ratesOf: () => rates,
    allocator: { topUp: async () => assert.fail('is not metered') },
    ledger: { balance: async () => undefined },
    backlog: null,
    failpoint: () => undefined,
    onDecision() {},
    heartbeat: { keep: () => ({ [Symbol.dispose]() {} }) },
    settle: createSettle({ ledger, limits, backlog: null, failpoint: () => undefined, onCharge() {} }),
    clock: systemClock,
    creditUsd: 1,
    remaining: new Map(),
    onUnsettled: (_, error) => assert.ifError(error),
  })
}

/** By how much each budget and member was passed. */
function excesses({ own, charges }: Awaited<ReturnType<typeof play>>): number[] {
  return own.flatMap((budget) => {
    const members = new Set(charges.map((charge) => memberOf(budget, spenderOf(charge)) ?? null))
    return [...members].map((member) => inUnit(budget, spentOf(charges, budget, member)) - budget.amount)
  })
}

const engineOf = (epoch: string) => createLimitEngine({ nowMs: () => Date.now(), epoch, settings })

/** A node whose way to Redis can be cut. */
function createNode(connection: RedisConnection, id: string, network: { isCut: boolean }) {
  const redis = createRedisLimitStore({ connection, settings })
  const shared = new Proxy(redis, {
    get: (target, name: keyof SharedLimitStore) =>
      network.isCut
        ? () => Promise.reject(new LimitStoreError('unreachable', 'cut'))
        : (target[name] as (...args: unknown[]) => unknown),
  })
  return createFallbackStore({
    shared,
    local: engineOf(`${id} ${randomUUID()}`),
    unsent: engineOf(id),
    nodeId: id,
    membership: { count: () => 2, isAlive: () => true },
    clock: systemClock,
    random: systemRandom,
  })
}

async function openNodes(server: RedisServer, connection: RedisConnection): Promise<Nodes & Disposable> {
  const network = { isCut: false }
  const stores = ['a', 'b'].map((id) => createNode(connection, id, network))
  const sync = async (): Promise<void> => void (await Promise.all(stores.map((store) => store.sync())))
  const back = async (): Promise<void> => {
    network.isCut = false
    server.signal('SIGCONT')
    while (stores.some((store) => store.isDegraded())) await setTimeout(5)
    await sync()
  }
  await back()
  return {
    stores,
    async lose(loss) {
      if (loss === 'cut') network.isCut = true
      else if (loss === 'freeze') server.signal('SIGSTOP')
      else if (loss === 'back') await back()
      else if (loss === 'empty') {
        server.signal('SIGCONT')
        await connection.client.flushall()
      } else {
        const before = connection.epoch()
        await server.restart()
        while (connection.epoch() === null || connection.epoch() === before) await setTimeout(1)
      }
    },
    [Symbol.dispose]() {
      server.signal('SIGCONT')
      for (const store of stores) store[Symbol.dispose]()
    },
  }
}

const steps = (...losses: readonly Loss[]) =>
  fc.array(stepArbitrary(...losses), { minLength: 10, maxLength: 40, size: 'max' })

describe('random callers over overlapping budgets', () => {
  it('never pass any of them by a micro-credit on one node', async () => {
    await fc.assert(
      fc.asyncProperty(steps(), async (played) => {
        const result = await play({ stores: [engineOf('one')], lose: async () => {} }, played)
        for (const excess of excesses(result)) assert.ok(excess <= 0, `${excess}`)
      }),
      { numRuns: 40 },
    )
  })

  it('never pass any of them on two nodes that count apart', async () => {
    await fc.assert(
      fc.asyncProperty(steps(), async (played) => {
        const stores = ['a', 'b'].map((id) => createDividedStore(engineOf(id), () => 2))
        const result = await play({ stores, lose: async () => {} }, played)
        for (const excess of excesses(result)) assert.ok(excess <= 0, `${excess}`)
      }),
      { numRuns: 40 },
    )
  })

  describe('on two nodes with one Redis', { skip: withoutRedisServer }, () => {
    const holds = async (
      losses: readonly Loss[],
      bound: (inFlightAtLoss: number, amount: number) => number,
      { commandTimeoutMs = 5_000, numRuns = 30 } = {},
    ) => {
      await using server = await startRedisServer()
      using connection = connectRedis({ url: server.url, commandTimeoutMs })
      await connection.ready()
      const property = fc.asyncProperty(steps(...losses), async (played) => {
        await connection.client.flushall()
        using nodes = await openNodes(server, connection)
        const result = await play(nodes, played)
        const most = bound(result.inFlightAtLoss, 1_000)
        for (const excess of excesses(result)) assert.ok(excess <= most, `${excess} of ${most}`)
      })
      await fc.assert(property, { numRuns })
    }

    it('never pass any of them', () => holds([], () => 0))

    it('pass one at most by what was in flight when Redis was emptied', () => holds(['empty'], (inFlight) => inFlight))

    it('pass one at most by what was in flight, and by the share of the other node, while Redis is away', () =>
      holds(['empty', 'cut', 'back', 'kill'], (inFlight, amount) => inFlight + amount / 2))

    it('pass one at most by as much while Redis is frozen, and runs later what it was sent', () =>
      holds(['empty', 'freeze', 'back'], (inFlight, amount) => inFlight + amount / 2, {
        commandTimeoutMs: 300,
        numRuns: 12,
      }))
  })
})
