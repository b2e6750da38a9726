import { searchText } from '../../session/search-text.ts'

export const budgetDialogs = ['create', 'edit', 'pause', 'resume', 'extra', 'delete'] as const
export type BudgetDialogName = (typeof budgetDialogs)[number]

/**
 * What the address of the page holds beside the time range: the tab, what costs are grouped by, the open budget, and the open
 * dialog.
 */
export type CostsSearch = {
  readonly view?: 'budgets' | undefined
  readonly by?: string | undefined
  readonly budget?: string | undefined
  readonly dialog?: BudgetDialogName | undefined
  /** The key that a new budget is for. */
  readonly key?: string | undefined
}

export const readCostsSearch = (search: Record<string, unknown>): CostsSearch => ({
  view: search['view'] === 'budgets' ? 'budgets' : undefined,
  by: searchText(search['by']),
  budget: searchText(search['budget']),
  dialog: budgetDialogs.find((dialog) => dialog === search['dialog']),
  key: searchText(search['key']),
})
