import { grantStore } from '../../adapters/stores/sql/credits/grants.ts'
import { ledgerBalances } from '../../adapters/stores/sql/credits/ledger-balances.ts'
import { ledgerStore } from '../../adapters/stores/sql/credits/ledger.ts'
import { overrideStore } from '../../adapters/stores/sql/credits/limit-overrides.ts'
import { ledgerReports } from '../../adapters/stores/sql/credits/reports.ts'
import { directoryStore } from '../../adapters/stores/sql/identity/directory.ts'
import { balanceRoutes } from '../../http/admin/credits/balance-routes.ts'
import { ledgerExportRoute } from '../../http/admin/credits/export.ts'
import { ledgerRoutes } from '../../http/admin/credits/routes.ts'
import { overrideRoutes } from '../../http/admin/limits/override-routes.ts'
import { costRoutes } from '../../http/admin/costs/routes.ts'
import { limitRoutes } from '../../http/admin/limits/routes.ts'
import { usageRoutes } from '../../http/admin/usage/routes.ts'
import { ledgerRoutes as operatorLedgerRoutes } from '../../http/operator/ledger.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import { openLedgerVerifier } from '../ledger-verifier.ts'
import type { Feature, FeatureParts, RunningServerParts } from './feature.ts'

/** Limits, usage, credits and the ledger. */
export function createLimitsAndCredits(
  parts: FeatureParts,
  { preflight, modelSetOf }: Pick<RunningServerParts, 'preflight' | 'modelSetOf'>,
): Feature {
  const { config, database, clock, ids, stores, encoding } = parts
  const own = stores.of((tx) => ({
    directory: directoryStore(tx),
    overrides: overrideStore(tx),
    grants: grantStore(tx, { ids, clock, engine: database.engine }),
  }))
  const { retention_days: userDays } = config.audit
  const ledger = ledgerReports(database, { clock, userDays })
  const reads = { ...own.reads, ledger }
  const { credit_usd: creditUsd, administrators_manage: administratorsManageCredits } = config.credits
  const credits = { ids, balances: ledgerStore(database, { ids, clock }), creditUsd, administratorsManageCredits }
  const balances = ledgerBalances(database, stores.encryptions.ledgerBalances)
  const ledgerVerifier = openLedgerVerifier({ ...parts, balances })
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own, reads })
      return [
        ...limitRoutes(routes, { preflight, modelSetOf }),
        ...usageRoutes(routes, { clock, creditUsd, encode: (input) => encoding.run('usage', { ...input, userDays }) }),
        ...costRoutes(routes, {
          clock,
          creditUsd,
          tagNames: config.budgets.tags,
          encode: (input) => encoding.run('costs', { ...input, userDays }),
        }),
        ...overrideRoutes(routes, { administratorsManageCredits }),
        ...balanceRoutes(routes, { ...credits, authenticate: surface.authenticate }),
        ...ledgerRoutes(routes),
        ledgerExportRoute({ ...surface, readPage: (input) => encoding.run('ledgerExport', input) }),
      ]
    },
    operator: () => operatorLedgerRoutes(ledgerVerifier),
  }
}
