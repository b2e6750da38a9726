import { sinkKinds } from '../../adapters/sinks/registry.ts'
import { exportStore } from '../../adapters/stores/sql/exports/sinks.ts'
import { createSinkAdministration } from '../../domain/audit/export/mutations.ts'
import { deadLetterRoutes } from '../../http/policy-gateway/exports/dead-letter-routes.ts'
import { exportRoutes } from '../../http/policy-gateway/exports/routes.ts'
import { exportTestRoute } from '../../http/policy-gateway/exports/test-route.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import { createSinkAddressRules } from '../sink-addresses.ts'
import type { Feature, FeatureParts, RunningServerParts } from './feature.ts'

/** The destinations of the audit log. */
export function createSinks(
  { config, clock, ids, stores }: FeatureParts,
  { testSink }: Pick<RunningServerParts, 'testSink'>,
): Feature {
  const own = stores.of((tx) => ({ exports: exportStore(tx, stores.encryptions.exportSecrets) }))
  const sinks = createSinkAdministration({
    kinds: sinkKinds,
    findAddressProblem: createSinkAddressRules(config.exports).findProblem,
    ids,
    clock,
  })
  return {
    policyGateway(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      return [
        ...exportRoutes(routes, sinks, sinkKinds),
        exportTestRoute({ ...surface, exports: own.reads.exports, testSink }),
        ...deadLetterRoutes(routes, sinks),
      ]
    },
  }
}
