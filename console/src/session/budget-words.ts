import { count, dollars, shortCount } from '../kit/format.ts'
import type { components } from '../api/schema.d.ts'
import { words } from '../words/en.ts'
import type { SubjectNames } from './subject-names.ts'

type Budget = components['schemas']['Budget']

const text = words.budgets

export const budgetUnits = ['usd', 'tokens', 'requests'] as const
export type BudgetUnit = (typeof budgetUnits)[number]

/** The one of the three amounts that is set. */
export function amountOf({ amount_usd: usd, tokens, requests }: Pick<Budget, 'amount_usd' | 'tokens' | 'requests'>): {
  readonly unit: BudgetUnit
  readonly amount: number
} {
  if (usd !== null) return { unit: 'usd', amount: usd }
  return tokens === null ? { unit: 'requests', amount: requests ?? 0 } : { unit: 'tokens', amount: tokens }
}

/** `$5.00`, `1,000 tokens`. */
export const inUnit = (unit: BudgetUnit, amount: number): string =>
  unit === 'usd' ? dollars(amount) : text.inUnit[unit](count(amount), amount === 1)

/** `$4.10 of $5.00`, `37 of 1,000 tokens`, `1.2M of 2M tokens`. */
export const spentText = (unit: BudgetUnit, spent: number, amount: number): string =>
  unit === 'usd'
    ? text.spentOf(dollars(spent), dollars(amount))
    : text.spentOf(shortCount(spent), text.inUnit[unit](shortCount(amount), amount === 1))

/** `$5.00 a day`. */
export function amountText(budget: Budget): string {
  const { unit, amount } = amountOf(budget)
  return text.inPeriod(inUnit(unit, amount), budget.period)
}

/** `Each user, project Web, models gpt-5 or gpt-5-mini, team red`. */
export function appliesTo({ per, match }: Pick<Budget, 'per' | 'match'>, { projects, keys }: SubjectNames): string {
  const conditions = [
    ['projects', match.project_ids.map((id) => projects.get(id) ?? id)],
    ['keys', match.api_key_ids.map((id) => keys.get(id) ?? id)],
    ['models', match.models],
    ['users', match.users],
  ] as const
  return [
    whoOf(per),
    ...conditions.flatMap(([kind, names]) => (names.length === 0 ? [] : [text.condition(kind, names)])),
    ...Object.entries(match.tags).flatMap(([name, values]) =>
      values.length === 0 ? [] : [text.conditionTag(name, values)],
    ),
  ].join(', ')
}

const kinds = ['all', 'project', 'key', 'user'] as const

function whoOf(per: string): string {
  const kind = kinds.find((each) => each === per)
  return kind === undefined ? text.whoTag(per.slice('tag:'.length)) : text.who[kind]
}

const useModel = 'use_model:'

export function actionText(action: string): string {
  if (action.startsWith(useModel)) return text.useModel(action.slice(useModel.length))
  return action === 'warn' ? text.actions.warn : text.actions.deny
}

/** The model that a budget continues with. */
export const modelOfAction = (action: string): string | undefined =>
  action.startsWith(useModel) ? action.slice(useModel.length) : undefined
