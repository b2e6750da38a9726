import { overrideStore } from '../../adapters/stores/sql/credits/limit-overrides.ts'
import { ledgerStore } from '../../adapters/stores/sql/credits/ledger.ts'
import { ledgerReports } from '../../adapters/stores/sql/credits/reports.ts'
import { memberStore } from '../../adapters/stores/sql/identity/members.ts'
import { subjectSums } from '../../adapters/stores/sql/rollup/subject-sums.ts'
import { trafficStore } from '../../adapters/stores/sql/rollup/traffic.ts'
import { createFirstSteps } from '../../domain/overview/first-steps.ts'
import { createKeyUseReader, keyLimits } from '../../domain/overview/key-use.ts'
import { tierOf, tierTable, withOverrides } from '../../domain/limits/tiers.ts'
import { periodRoute } from '../../http/admin/overview/period-route.ts'
import { overviewRoute } from '../../http/admin/overview/route.ts'
import { overviewStreamRoute } from '../../http/admin/overview/stream.ts'
import { trafficRoute } from '../../http/admin/traffic/routes.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { Organization } from '../../domain/identity/principal.ts'
import { attentionStores } from './attention-stores.ts'
import type { Feature, FeatureParts, RunningServerParts } from './feature.ts'

/** How the service does, and what needs a person. */
export function createOverview(parts: FeatureParts, server: RunningServerParts): Feature {
  const { config, database, clock, ids, stores } = parts
  const own = stores.of((tx) => ({
    ...attentionStores(stores)(tx),
    members: memberStore(tx),
    overrides: overrideStore(tx),
  }))
  const subjects = subjectSums(database, clock)
  const reads = {
    ...own.reads,
    events: stores.reportedEvents,
    ledger: ledgerReports(database, { clock, userDays: config.audit.retention_days }),
    traffic: trafficStore(database, clock),
    subjects,
  }
  const tiers = withOverrides(tierTable, config.limits.tiers)
  const readCachedUse = createKeyUseReader(clock)
  const { inFlight, readiness, installation } = server
  const shown = {
    balances: ledgerStore(database, { ids, clock }),
    creditUsd: config.credits.credit_usd,
    clock,
    hasJudge: config.policies.judge !== undefined,
    inFlight,
    readiness,
    upstreams: installation.upstreams,
    isSystemVisible: config.administration.system_visible,
    readFirstSteps: createFirstSteps(installation.listServedModels),
    readKeyUse: (organization: Organization) =>
      readCachedUse(organization.id, async () => ({
        traffic: reads.traffic,
        subjects,
        limitsOf: keyLimits(tiers[tierOf(organization)], await own.reads.overrides.list(organization.id)),
        findKey: (keyId) => own.reads.directory.findApiKey(organization.id, keyId),
      })),
  }
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own, reads })
      return [
        overviewRoute(routes, shown),
        periodRoute(routes, shown),
        overviewStreamRoute({ ...surface, reads, inFlight }),
        trafficRoute(routes, clock),
      ]
    },
  }
}
