import { toUnixSeconds } from '../../../base/clock.ts'
import { displayedAmount } from '../../../domain/budgets/amount.ts'
import type { Budget, BudgetAction, BudgetPer } from '../../../domain/budgets/budget.ts'
import type { BudgetPatch, BudgetSettings, GivenAmount } from '../../../domain/budgets/complete.ts'
import { actionText } from '../../../domain/budgets/mutations.ts'
import { invalidField } from '../../validate.ts'
import type { BudgetBody, CreateBudgetBody, GivenBudgetBody } from './schema.ts'

export function presentBudget({ match, unit, amount, extra, ...budget }: Budget): BudgetBody {
  const inUnit = (of: Budget['unit']): number | null => (of === unit ? displayedAmount(unit, amount) : null)
  return {
    id: budget.id,
    object: 'organization.budget',
    name: budget.name,
    match: {
      project_ids: [...match.projectIds],
      api_key_ids: [...match.keyIds],
      models: [...match.models],
      users: [...match.users],
      tags: Object.fromEntries(Object.entries(match.tags).map(([name, values]) => [name, [...values]])),
    },
    per: budget.per,
    amount_usd: inUnit('usd'),
    tokens: inUnit('tokens'),
    requests: inUnit('requests'),
    period: budget.period,
    time_zone: budget.timeZone,
    action: actionText(budget.action),
    warn_at: [...budget.warnAt],
    extra: extra && {
      amount: displayedAmount(unit, extra.amount),
      until: toUnixSeconds(extra.untilMs),
      reason: extra.reason,
    },
    state: budget.state,
    revision: budget.revision,
    created_at: toUnixSeconds(budget.createdAtMs),
    updated_at: toUnixSeconds(budget.updatedAtMs),
  }
}

export function settingsOf(body: CreateBudgetBody): BudgetSettings {
  const { amount, ...given } = patchOf(body)
  if (amount === undefined) throw invalidField(['amount_usd'], `is required, or tokens or requests in place of it`)
  return { ...given, name: body.name, period: body.period, amount }
}

/** The fields that were given. */
export function patchOf(body: GivenBudgetBody): BudgetPatch {
  const { name, period, match, time_zone: timeZone, warn_at: warnAt, state } = body
  const amount = givenAmount(body)
  return {
    ...(name !== undefined && { name }),
    ...(amount !== undefined && { amount }),
    ...(period !== undefined && { period }),
    ...(match !== undefined && { match: matchOf(match) }),
    ...(body.per !== undefined && { per: perOf(body.per) }),
    ...(timeZone !== undefined && { timeZone }),
    ...(body.action !== undefined && { action: actionOf(body.action) }),
    ...(warnAt !== undefined && { warnAt }),
    ...(body.extra !== undefined && { extra: extraOf(body.extra) }),
    ...(state !== undefined && { state }),
  }
}

function givenAmount({ amount_usd: usd, tokens, requests }: GivenBudgetBody): GivenAmount | undefined {
  const given = [
    ...(usd == null ? [] : [{ unit: 'usd', value: usd } as const]),
    ...(tokens == null ? [] : [{ unit: 'tokens', value: tokens } as const]),
    ...(requests == null ? [] : [{ unit: 'requests', value: requests } as const]),
  ]
  if (given.length > 1)
    throw invalidField([given[1]?.unit ?? 'tokens'], 'only one of amount_usd, tokens and requests may be set')
  return given[0]
}

const matchOf = ({ project_ids: projectIds, api_key_ids: keyIds, models, users, tags }: GivenMatch) => ({
  ...(projectIds && { projectIds }),
  ...(keyIds && { keyIds }),
  ...(models && { models }),
  ...(users && { users }),
  ...(tags && { tags }),
})

type GivenMatch = NonNullable<GivenBudgetBody['match']>

/** The schema has checked the form. */
const perOf = (text: string): BudgetPer => text as BudgetPer

/** The schema has checked the form. */
export function actionOf(text: string): BudgetAction {
  if (text === 'deny' || text === 'warn') return { type: text }
  return { type: 'use_model', model: text.slice('use_model:'.length) }
}

const extraOf = (extra: NonNullable<GivenBudgetBody['extra']> | null) =>
  extra && {
    amount: extra.amount,
    reason: extra.reason,
    ...(extra.until !== undefined && { untilMs: extra.until * 1000 }),
  }
