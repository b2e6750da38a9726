import { budgetStore } from '../../adapters/stores/sql/budgets/budgets.ts'
import { namesIn } from '../../adapters/stores/sql/identity/names.ts'
import { createBudgetAdministration } from '../../domain/budgets/mutations.ts'
import { budgetListRoute } from '../../http/admin/budgets/list-route.ts'
import { budgetPlanRoute } from '../../http/admin/budgets/plan-route.ts'
import { budgetRoutes } from '../../http/admin/budgets/routes.ts'
import { budgetStatusRoute } from '../../http/admin/budgets/status-route.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import { openSpentReads } from '../budgets.ts'
import type { Feature, FeatureParts, RunningServerParts } from './feature.ts'

/** How much requests may spend in a period. */
export function createBudgets(
  parts: FeatureParts,
  { modelSetOf, readHeld }: Pick<RunningServerParts, 'modelSetOf' | 'readHeld'>,
): Feature {
  const { config, clock, ids, stores } = parts
  const own = stores.of((tx) => ({ budgets: budgetStore(tx) }))
  const administration = createBudgetAdministration({ ids, clock, tagNames: config.budgets.tags })
  const reports = { administration, spent: openSpentReads(parts), names: namesIn(stores.reading.query), clock }
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      return [
        budgetListRoute(routes, reports),
        ...budgetRoutes(routes, { administration, modelSetOf }),
        budgetPlanRoute(routes, reports),
        budgetStatusRoute(routes, { ...reports, readHeld }),
      ]
    },
  }
}
