import type { components } from '../../api/schema.d.ts'
import { numberIn } from '../../kit/number-in.ts'
import type { BudgetUnit } from '../../session/budget-words.ts'
import { words } from '../../words/en.ts'

const text = words.projects.budget

type BudgetBody = components['schemas']['BudgetCreate']

/** The budget of a new key, as it is typed. Without an amount there is none. */
export type KeyBudgetDraft = {
  readonly amount: string
  readonly unit: BudgetUnit
  readonly period: BudgetBody['period']
  readonly action: 'deny' | 'warn'
}

export const noBudget: KeyBudgetDraft = { amount: '', unit: 'usd', period: 'month', action: 'deny' }

export const hasBudget = ({ amount }: KeyBudgetDraft): boolean => amount.trim() !== ''

const maxima = { usd: 1_000_000_000, tokens: 1_000_000_000_000_000, requests: 1_000_000_000_000_000 }

/** What is wrong with the amount. It is found before the key is created, which cannot be taken back unseen. */
export function amountProblem({ amount: typed, unit }: KeyBudgetDraft): string | undefined {
  const amount = numberIn(typed)
  if (Number.isNaN(amount)) return text.noNumber
  if (amount <= 0) return text.notPositive
  if (amount > maxima[unit]) return text.tooMuch
  if (unit === 'usd') return Number(amount.toFixed(6)) === amount ? undefined : text.decimals
  return Number.isInteger(amount) ? undefined : text.notWhole
}

const fieldOfUnit = { usd: 'amount_usd', tokens: 'tokens', requests: 'requests' } as const

/** The budget of exactly this key. */
export const keyBudgetBody = (
  { amount, unit, period, action }: KeyBudgetDraft,
  { id, name }: { readonly id: string; readonly name: string },
): BudgetBody => ({
  name,
  [fieldOfUnit[unit]]: numberIn(amount),
  period,
  action,
  match: { api_key_ids: [id] },
})

const maxNameLength = 80
const idLength = 6

/** For a budget whose name another one has: the name of the key with the end of its id. */
export const otherName = (name: string, id: string): string =>
  `${[...name].slice(0, maxNameLength - idLength - 1).join('')} ${id.slice(-idLength)}`

/** The options of `gatehouse keys create` for it. */
export const budgetOptions = (draft: KeyBudgetDraft): Readonly<Record<string, string | undefined>> =>
  hasBudget(draft)
    ? {
        [`budget-${draft.unit}`]: draft.amount.trim().replace(',', '.'),
        'budget-period': draft.period,
        'budget-action': draft.action === 'deny' ? undefined : draft.action,
      }
    : {}
