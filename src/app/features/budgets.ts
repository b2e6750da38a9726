import { budgetStore } from '../../adapters/stores/sql/budgets/budgets.ts'
import { createBudgetAdministration } from '../../domain/budgets/mutations.ts'
import { budgetRoutes } from '../../http/admin/budgets/routes.ts'
import { budgetStatusRoute } from '../../http/admin/budgets/status-route.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import { openReadSpent } from '../budgets.ts'
import type { Feature, FeatureParts, RunningServerParts } from './feature.ts'

/** How much requests may spend in a period. */
export function createBudgets(parts: FeatureParts, { modelSetOf }: Pick<RunningServerParts, 'modelSetOf'>): Feature {
  const { config, clock, ids, stores } = parts
  const own = stores.of((tx) => ({ budgets: budgetStore(tx) }))
  const administration = createBudgetAdministration({ ids, clock, tagNames: config.budgets.tags })
  const readSpent = openReadSpent(parts)
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      return [...budgetRoutes(routes, { administration, modelSetOf }), budgetStatusRoute(routes, { readSpent, clock })]
    },
  }
}
