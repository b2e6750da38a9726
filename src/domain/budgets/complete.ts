import { amountOf, displayedAmount, invalidBudgetField } from './amount.ts'
import type { Budget, BudgetAction, BudgetMatch, BudgetPer, BudgetPeriod, BudgetUnit } from './budget.ts'
import { isTimeZone, periodAt } from './period.ts'

/** An amount in dollars, tokens or requests. */
export type GivenAmount = { readonly unit: BudgetUnit; readonly value: number }

/** In the unit of the budget. Without `untilMs` it lasts until the end of the period. */
export type GivenExtra = {
  readonly amount: number
  readonly untilMs?: number | undefined
  readonly reason: string
}

/** The fields of a budget that people write. */
export type BudgetSettings = {
  readonly name: string
  readonly amount: GivenAmount
  readonly period: BudgetPeriod
  readonly match?: Partial<BudgetMatch>
  readonly per?: BudgetPer
  readonly timeZone?: string
  readonly action?: BudgetAction
  readonly warnAt?: readonly number[]
  readonly extra?: GivenExtra | null
  readonly state?: Budget['state']
}

/** Fields that are left out stay as they are. */
export type BudgetPatch = Partial<BudgetSettings>

/** A budget as it was before, or the defaults of a new one. */
type BudgetFields = Omit<Budget, 'id' | 'organizationId' | 'revision' | 'updatedAtMs'>

const defaults = {
  match: { projectIds: [], keyIds: [], models: [], users: [], tags: {} },
  per: 'all',
  timeZone: 'UTC',
  action: { type: 'deny' },
  warnAt: [50, 80, 95],
  extra: null,
  state: 'active',
} as const satisfies Partial<BudgetFields>

type Completing = { readonly nowMs: number; readonly tagNames: readonly string[] }

/** The fields of a new budget. */
export function newFields(given: BudgetSettings, completing: Completing): BudgetFields {
  const { unit, value } = given.amount
  const amount = amountOf(unit, value, fieldOfAmount(unit))
  const { name, period } = given
  const before: BudgetFields = { ...defaults, name, unit, amount, period, createdAtMs: completing.nowMs }
  return changedFields(before, given, completing)
}

/** The fields with those of the patch. An extra ends with a change of the unit or of the periods that it was given in. */
export function changedFields(before: BudgetFields, patch: BudgetPatch, completing: Completing): BudgetFields {
  const { unit, value } = patch.amount ?? { unit: before.unit, value: displayedAmount(before.unit, before.amount) }
  const after: BudgetFields = {
    name: patch.name ?? before.name,
    match: patch.match ? completeMatch(patch.match, completing) : before.match,
    per: patch.per ?? before.per,
    unit,
    amount: amountOf(unit, value, fieldOfAmount(unit)),
    period: patch.period ?? before.period,
    timeZone: patch.timeZone ?? before.timeZone,
    action: patch.action ?? before.action,
    warnAt: patch.warnAt ? [...new Set(patch.warnAt)].toSorted((a, b) => a - b) : before.warnAt,
    extra: before.extra,
    state: patch.state ?? before.state,
    createdAtMs: before.createdAtMs,
  }
  if (patch.per?.startsWith('tag:')) requireTag('per', patch.per.slice('tag:'.length), completing)
  if (patch.timeZone !== undefined && !isTimeZone(patch.timeZone))
    throw invalidBudgetField('time_zone', 'must be a name of the IANA time zone database, such as Europe/Berlin')
  if (patch.extra !== undefined) return { ...after, extra: patch.extra && extraOf(after, patch.extra, completing) }
  const isSame = after.unit === before.unit && after.period === before.period && after.timeZone === before.timeZone
  return isSame ? after : { ...after, extra: null }
}

/** The name of the field that has the amount. */
export const fieldOfAmount = (unit: BudgetUnit) => (unit === 'usd' ? 'amount_usd' : unit)

function completeMatch(given: Partial<BudgetMatch>, completing: Completing): BudgetMatch {
  const unique = (values: readonly string[] = []): readonly string[] => [...new Set(values)]
  const tags = Object.entries(given.tags ?? {}).map(([name, values]): [string, readonly string[]] => {
    requireTag(`match.tags.${name}`, name, completing)
    return [name, unique(values)]
  })
  return {
    projectIds: unique(given.projectIds),
    keyIds: unique(given.keyIds),
    models: unique(given.models),
    users: unique(given.users),
    tags: Object.fromEntries(tags),
  }
}

function requireTag(param: string, name: string, { tagNames }: Completing): void {
  if (tagNames.includes(name)) return
  const known = tagNames.length === 0 ? 'there are none' : tagNames.join(', ')
  throw invalidBudgetField(param, `the tag ${name} is not in budgets.tags of the configuration (${known})`)
}

function extraOf(
  budget: BudgetFields,
  { amount, untilMs, reason }: GivenExtra,
  { nowMs }: Completing,
): BudgetFields['extra'] {
  const { endMs } = periodAt(budget, nowMs)
  const until = untilMs ?? endMs
  if (until === null) throw invalidBudgetField('extra.until', 'is required for a budget whose period is once')
  if (until <= nowMs) throw invalidBudgetField('extra.until', 'must be in the future')
  if (endMs !== null && until > endMs) {
    const end = `${new Date(endMs).toISOString().slice(0, 19)}Z`
    throw invalidBudgetField('extra.until', `must not be after the end of the current period, ${end}`)
  }
  return { amount: amountOf(budget.unit, amount, 'extra.amount'), untilMs: until, reason }
}
