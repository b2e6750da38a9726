import { directoryStore } from '../../adapters/stores/sql/identity/directory.ts'
import { gatewayStore } from '../../adapters/stores/sql/policies/gateway-configurations.ts'
import { policyStore } from '../../adapters/stores/sql/policies/policies.ts'
import { trafficStore } from '../../adapters/stores/sql/rollup/traffic.ts'
import type { RequestFilter } from '../../domain/audit/log.ts'
import { createCountAffected } from '../../domain/explanation/also-affected.ts'
import { countRequests } from '../../domain/overview/count-requests.ts'
import { explanationRoutes } from '../../http/admin/requests/explanation.ts'
import { requestExportRoute } from '../../http/admin/requests/export.ts'
import { createFilterReader } from '../../http/admin/requests/filter.ts'
import { requestRoutes } from '../../http/admin/requests/routes.ts'
import { requestStreamRoute } from '../../http/admin/requests/stream.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { EvaluationParts, Feature, FeatureParts } from './feature.ts'

/** The inference requests of the organization, as the audit log has them. */
export function createRequests(parts: FeatureParts, evaluation: EvaluationParts): Feature {
  const { stores, database, clock, encoding } = parts
  const own = stores.of((tx) => ({
    policies: policyStore(tx),
    gateway: gatewayStore(tx),
    directory: directoryStore(tx),
  }))
  const reads = { ...own.reads, events: stores.reportedEvents }
  const readFilter = createFilterReader(reads)
  const counted = { events: reads.events, traffic: trafficStore(database, clock), clock }
  const count = (organizationId: string, filter: RequestFilter) => countRequests(counted, organizationId, filter)
  const countAffected = createCountAffected(reads.events, () => clock.nowMs())
  return {
    administration: (surface) => [
      ...requestRoutes(createResourceRoutes({ ...surface, ...own, reads }), { ...evaluation, readFilter, count }),
      ...explanationRoutes(createResourceRoutes({ ...surface, ...own, reads }), { ...evaluation, countAffected }),
      requestStreamRoute({ ...surface, reads, readFilter }),
      requestExportRoute({ ...surface, readFilter, readPage: (input) => encoding.run('requestExport', input) }),
    ],
  }
}
