import { budgetStore } from '../../adapters/stores/sql/budgets/budgets.ts'
import { createBudgetAdministration } from '../../domain/budgets/mutations.ts'
import { budgetRoutes } from '../../http/admin/budgets/routes.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { Feature, FeatureParts, RunningServerParts } from './feature.ts'

/** How much requests may spend in a period. */
export function createBudgets(
  { clock, ids, stores }: FeatureParts,
  { modelSetOf }: Pick<RunningServerParts, 'modelSetOf'>,
): Feature {
  const own = stores.of((tx) => ({ budgets: budgetStore(tx) }))
  const administration = createBudgetAdministration({ ids, clock, tagNames: [] })
  return {
    administration: (surface) =>
      budgetRoutes(createResourceRoutes({ ...surface, ...own }), { administration, modelSetOf }),
  }
}
