import { gatewayStore } from '../../adapters/stores/sql/policies/gateway-configurations.ts'
import { policyStore } from '../../adapters/stores/sql/policies/policies.ts'
import type { Pace } from '../../base/pace.ts'
import { requestExportRoute } from '../../http/admin/requests/export.ts'
import { requestRoutes } from '../../http/admin/requests/routes.ts'
import { requestStreamRoute } from '../../http/admin/requests/stream.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { EvaluationParts, Feature, FeatureParts } from './feature.ts'

/** The inference requests of the organization, as the audit log has them. */
export function createRequests({ stores }: FeatureParts, evaluation: EvaluationParts, pace: Pace): Feature {
  const own = stores.of((tx) => ({ policies: policyStore(tx), gateway: gatewayStore(tx) }))
  const reads = { ...own.reads, events: stores.reportedEvents }
  return {
    administration: (surface) => [
      ...requestRoutes(createResourceRoutes({ ...surface, ...own, reads }), evaluation),
      requestStreamRoute({ ...surface, reads }),
      requestExportRoute({ ...surface, reads, pace }),
    ],
  }
}
