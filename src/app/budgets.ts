import { budgetStore } from '../adapters/stores/sql/budgets/budgets.ts'
import { createActiveBudgets, type ActiveBudgetsOf } from '../domain/budgets/active-budgets.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { Stores } from './stores.ts'

/** The budgets that requests are checked against. */
export const openActiveBudgets = (
  { changes }: Pick<Infrastructure, 'changes'>,
  { reading }: Pick<Stores, 'reading'>,
): ActiveBudgetsOf => createActiveBudgets({ changes, budgets: budgetStore(reading) })
