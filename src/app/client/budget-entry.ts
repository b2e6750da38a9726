import type { Static } from 'typebox'
import { amountOf } from '../../domain/budgets/amount.ts'
import { fieldOfAmount } from '../../domain/budgets/complete.ts'
import { settingsOf } from '../../http/admin/budgets/body.ts'
import { problemsOf, type FileProblem } from './file-problems.ts'
import type { BudgetEntry } from './policy-entry.ts'

export type BudgetFileEntry = Static<typeof BudgetEntry>

/** What a schema cannot express. Names that only the service knows are checked there. */
export const budgetProblems = ({ id: _id, match: _conditions, ...entry }: BudgetFileEntry): FileProblem[] =>
  problemsOf(() => {
    const { unit, value } = settingsOf(entry).amount
    amountOf(unit, value, fieldOfAmount(unit))
  })
