import { numberIn } from '../../kit/number-in.ts'
import { amountOf, modelOfAction, type BudgetUnit } from '../../session/budget-words.ts'
import type { Budget, BudgetBody } from './queries.ts'

export const actionKinds = ['deny', 'warn', 'use_model'] as const
type ActionKind = (typeof actionKinds)[number]

/** What is being typed. Lists of names are texts with one on each line. */
export type BudgetDraft = {
  readonly name: string
  readonly unit: BudgetUnit
  readonly amount: string
  readonly period: Budget['period']
  readonly timeZone: string
  /** `all`, `project`, `key`, `user` or `tag:team`. */
  readonly per: string
  readonly projectIds: readonly string[]
  readonly keyIds: readonly string[]
  readonly models: string
  readonly users: string
  /** Lines of `team=red`. */
  readonly tags: string
  readonly action: ActionKind
  readonly model: string
  /** Percent, with commas. */
  readonly warnAt: string
}

/** What a part of the form gets. */
export type FieldsProps = {
  readonly draft: BudgetDraft
  readonly error: unknown
  readonly onChange: (draft: BudgetDraft) => void
}

export const newBudgetDraft: BudgetDraft = {
  name: '',
  unit: 'usd',
  amount: '',
  period: 'month',
  timeZone: 'UTC',
  per: 'all',
  projectIds: [],
  keyIds: [],
  models: '',
  users: '',
  tags: '',
  action: 'deny',
  model: '',
  warnAt: '50, 80, 95',
}

export function draftOfBudget(budget: Budget): BudgetDraft {
  const { name, period, per, match, time_zone: timeZone, action, warn_at: warnAt } = budget
  const { unit, amount } = amountOf(budget)
  const model = modelOfAction(action)
  return {
    name,
    unit,
    amount: String(amount),
    period,
    timeZone,
    per,
    projectIds: match.project_ids,
    keyIds: match.api_key_ids,
    models: match.models.join('\n'),
    users: match.users.join('\n'),
    tags: Object.entries(match.tags)
      .flatMap(([tag, values]) => values.map((value) => `${tag}=${value}`))
      .join('\n'),
    action: model === undefined ? (action === 'warn' ? 'warn' : 'deny') : 'use_model',
    model: model ?? '',
    warnAt: warnAt.join(', '),
  }
}

const fieldOfUnit = { usd: 'amount_usd', tokens: 'tokens', requests: 'requests' } as const

/** The body that the form sends. */
export function bodyOfDraft(draft: BudgetDraft): BudgetBody {
  const { name, unit, amount, period, timeZone, per, action, model } = draft
  return {
    name: name.trim(),
    [fieldOfUnit[unit]]: numberIn(amount),
    period,
    time_zone: timeZone.trim(),
    per,
    match: {
      project_ids: [...draft.projectIds],
      api_key_ids: [...draft.keyIds],
      models: linesOf(draft.models),
      users: linesOf(draft.users),
      tags: tagsOf(draft.tags),
    },
    action: action === 'use_model' ? `use_model:${model}` : action,
    warn_at: draft.warnAt
      .split(',')
      .filter((share) => share.trim() !== '')
      .map(Number),
  }
}

/** Whether the form can be sent. */
export const isComplete = ({ name, amount, timeZone, action, model, warnAt }: BudgetDraft): boolean =>
  name.trim() !== '' &&
  numberIn(amount) > 0 &&
  timeZone.trim() !== '' &&
  (action !== 'use_model' || model !== '') &&
  warnAt.split(',').every((share) => Number.isInteger(Number(share)))

const linesOf = (typed: string): string[] =>
  typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** A line without a value is kept as a name without values, so that the server can say what is wrong with it. */
function tagsOf(typed: string): Record<string, string[]> {
  const tags: Record<string, string[]> = {}
  for (const line of linesOf(typed)) {
    const [, name = line, value] = /^([^=]*?)\s*=\s*(.*)$/.exec(line) ?? []
    tags[name] = [...(tags[name] ?? []), ...(value === undefined || value === '' ? [] : [value])]
  }
  return tags
}
