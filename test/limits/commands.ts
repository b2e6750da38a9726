import fc from 'fast-check'
import type { LimitSettings, Subject } from '../../src/domain/limits/admission.ts'
import { countOnly, type BudgetDemand, type BudgetUse } from '../../src/domain/limits/budget-counters.ts'
import { limitScopes as scopeNames, type Limits } from '../../src/domain/limits/scopes.ts'
import type { LimitStore } from '../../src/domain/limits/store.ts'
import type { LimitUsage } from '../../src/domain/limits/usage.ts'

/** An operation on a limit store, in a form that fast-check can shrink. */
export type Command =
  | {
      readonly do: 'admit' | 'check'
      readonly id: number
      readonly tokens: number
      readonly micro: number | null
      readonly budgets?: readonly BudgetDemand[] | null
    }
  | { readonly do: 'count'; readonly id: number }
  | {
      readonly do: 'settle'
      readonly id: number
      readonly tokens: number
      readonly micro: number
      readonly budgets?: readonly BudgetUse[] | null
      readonly isLate?: boolean
    }
  | {
      readonly do: 'count budgets'
      readonly token: number
      readonly phase: number
      readonly counters: readonly string[]
      readonly spent: number | null
    }
  | { readonly do: 'leave'; readonly id: number }
  | { readonly do: 'renew'; readonly ids: readonly number[] }
  | { readonly do: 'grant'; readonly slice: number; readonly amount: number; readonly opens: boolean }
  | { readonly do: 'close'; readonly slice: number }
  | { readonly do: 'read' }
  | ({ readonly do: 'contribute'; readonly id: number } & Contributed)
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'step back'; readonly ms: number }
  | { readonly do: 'crash' }

/** Usage that a node counted: in a slot of the minute and one of the day, and optionally a request in flight. */
type Contributed = {
  readonly secondsAgo: number
  readonly hoursAgo: number
  readonly requests: number
  readonly tokens: number
  readonly isRunning: boolean
}

/** The state of a run of commands. */
export type Scene = {
  readonly organization: string
  readonly epoch: string
  readonly limits: Limits
  nowMs: number
  contributions: number
  /** How often the node crashed. The requests of an earlier process are never settled. */
  crashes: number
}

export const startMs = 1_760_000_000_000

export const settingsArbitrary: fc.Arbitrary<LimitSettings> = fc.record({
  leaseMs: fc.constantFrom(3_000, 30_000),
  holdMs: fc.constantFrom(5_000, 90_000),
  countRejectedIn: fc.constantFrom('none', 'key', 'all'),
})

/** Small, so that short runs reach them; 0 is no limit. */
const scopeLimits = fc.record({
  rpm: fc.constantFrom(0, 2, 3, 6),
  rpd: fc.constantFrom(0, 5, 12),
  tpm: fc.constantFrom(0, 20, 60),
  tpd: fc.constantFrom(0, 50, 200),
  concurrent: fc.constantFrom(0, 1, 2, 4),
})
export const limitsArbitrary: fc.Arbitrary<Limits> = fc.record({
  key: scopeLimits,
  project: scopeLimits,
  organization: scopeLimits,
})

const id = fc.nat(11)
const tokens = fc.constantFrom(0, 1, 7, 20, 21, 45)
const micro = fc.constantFrom(0, 1, 10, 25)
const slice = fc.nat(1)
const counter = fc.constantFrom('bud_1', 'bud_2', 'bud_3')
const amount = fc.constantFrom(0, 1, 10, 25)
const demand = fc.record({ counter, limit: fc.constantFrom(20, 60, countOnly), amount, phase: fc.nat(2) })
const demands = fc.option(fc.uniqueArray(demand, { minLength: 1, maxLength: 3, selector: (one) => one.counter }))
const use = fc.record({ counter, amount })
const uses = fc.option(fc.uniqueArray(use, { maxLength: 3, selector: (one) => one.counter }))
const aheadMs = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(1, 250, 999, 1_000, 1_001, 2_999) },
  { weight: 1, arbitrary: fc.constantFrom(30_000, 59_999, 60_000, 61_000, 3_600_000, 90_000_000) },
)
const backMs = fc.constantFrom(1, 4_000, 59_999, 60_000, 60_001, 86_400_000)

export const commandArbitrary: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant('admit'), id, tokens, micro: fc.option(micro), budgets: demands }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('check'), id, tokens, micro: fc.option(micro), budgets: demands }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('count'), id }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('settle'), id, tokens, micro, budgets: uses, isLate: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('count budgets'),
      token: fc.nat(2),
      phase: fc.nat(2),
      counters: fc.uniqueArray(counter, { minLength: 1 }),
      spent: fc.option(fc.constantFrom(0, 5, 30)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave'), id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('renew'), ids: fc.array(id, { minLength: 1, maxLength: 4 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('grant'),
      slice,
      amount: fc.constantFrom(0, 30, 100),
      opens: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close'), slice }) },
  { weight: 1, arbitrary: fc.constant({ do: 'read' }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('contribute'),
      id,
      secondsAgo: fc.constantFrom(-2, 0, 1, 30, 60, 61),
      hoursAgo: fc.constantFrom(-1, 0, 1, 24, 25),
      requests: fc.nat(3),
      tokens,
      isRunning: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('advance'), ms: aheadMs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('step back'), ms: backMs }) },
  { weight: 1, arbitrary: fc.constant({ do: 'crash' }) },
)

/** Two keys in one project and one in another, so that scopes are shared in part. */
const subjectOf = (organization: string, number: number): Subject => ({
  organization,
  project: number % 3 < 2 ? 'project_a' : 'project_b',
  key: `key_${number % 3}`,
})

const requestOf = ({ organization, crashes }: Scene, number: number) => ({
  ...subjectOf(organization, number),
  requestId: `request_${crashes}_${number}`,
})

/** Applies a command that changes the scene itself: its time, its number of crashes or contributions. */
export function prepare(scene: Scene, step: Command): void {
  if (step.do === 'advance') scene.nowMs += step.ms
  if (step.do === 'step back') scene.nowMs -= step.ms
  if (step.do === 'crash') scene.crashes++
  if (step.do === 'contribute') scene.contributions++
}

/** A limit store that also accepts the usage of other nodes. */
export type Contributable = LimitStore & { contribute(use: LimitUsage, number: number): unknown }

function useOf(scene: Scene, step: Extract<Command, { do: 'contribute' }>): LimitUsage {
  const { requestId, ...subject } = requestOf(scene, step.id)
  const { requests, tokens: used } = step
  const minute = [[Math.floor(scene.nowMs / 1_000) - step.secondsAgo, requests, used]] as const
  const day = [[Math.floor(scene.nowMs / 3_600_000) - step.hoursAgo, requests, used]] as const
  const scopes = scopeNames.map((scope) => ({ scope, id: subject[scope], minute, day }))
  const admittedAtMs = scene.nowMs - step.secondsAgo * 1_000
  const running = step.isRunning ? [{ ...subject, requestId, tokens: used, admittedAtMs }] : []
  return { organization: scene.organization, scopes, running }
}

/** Executes the command on one store and returns the store's result. */
export function perform(store: Contributable, scene: Scene, step: Command): unknown {
  const { organization, epoch, limits } = scene
  switch (step.do) {
    case 'admit':
    case 'check': {
      const wanted = { tokens: step.tokens, micro: step.micro, ...(step.budgets && { budgets: step.budgets }) }
      return store.admit({
        ...requestOf(scene, step.id),
        limits,
        mode: step.do === 'admit' ? 'full' : 'check',
        ...wanted,
      })
    }
    case 'count':
      return store.admit({ ...subjectOf(organization, step.id), limits, mode: 'count' })
    case 'settle':
      return store.settle({
        ...requestOf(scene, step.id),
        tokens: step.tokens,
        micro: step.micro,
        ...(step.budgets && { budgets: step.budgets }),
        isLate: step.isLate ?? false,
      })
    case 'count budgets': {
      const counters = step.counters.map((name) => ({
        counter: name,
        spent: step.spent,
        phase: step.phase,
        expiresAtMs: 9e15,
      }))
      return store.countBudgets({ organization, epoch, token: step.token, counters })
    }
    case 'leave':
      return store.leave(requestOf(scene, step.id))
    case 'renew':
      return store.renew(step.ids.map((number) => requestOf(scene, number)))
    case 'grant':
      return store.grant({
        organization,
        epoch,
        sliceId: `slice_${step.slice}`,
        amountMicro: step.amount,
        opens: step.opens,
      })
    case 'close':
      return store.close({ organization, epoch, sliceId: `slice_${step.slice}` })
    case 'read':
      return store.accounts(organization)
    case 'contribute':
      return store.contribute(useOf(scene, step), scene.contributions)
    default:
      return undefined
  }
}
