import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { Changes } from '../mutations/changes.ts'
import { createOrganizationCache } from '../mutations/organization-cache.ts'
import type { Budget } from './budget.ts'
import type { BudgetStore } from './store.ts'

export type ActiveBudgetsOf = (organizationId: string) => MaybePromise<readonly Budget[]>

const noBudgets: readonly Budget[] = []

/**
 * The active budgets of an organization, for every request. They are read once, and again after any change of the organization:
 * at once on the node of the change, on others within a second. Without budgets, the same empty list comes without a wait.
 */
export function createActiveBudgets(parts: {
  readonly changes: Changes
  readonly budgets: Pick<BudgetStore, 'listActive'>
}): ActiveBudgetsOf {
  return createOrganizationCache({
    changes: parts.changes,
    async read(organizationId) {
      const active = await parts.budgets.listActive(organizationId)
      return active.length === 0 ? noBudgets : active
    },
  })
}
