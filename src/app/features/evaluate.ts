import { policyStore } from '../../adapters/stores/sql/policies/policies.ts'
import { evaluateRoute } from '../../http/admin/evaluate/route.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { EvaluationParts, Feature, FeatureParts } from './feature.ts'
import { createConfigurationRules } from './gateway-configuration.ts'
import { createPolicyRules } from './policies.ts'

/** What a text would get, and why. */
export function createEvaluate(parts: FeatureParts, evaluation: EvaluationParts): Feature {
  const { clock, stores } = parts
  const own = stores.of((tx) => ({ policies: policyStore(tx) }))
  const rules = { policies: createPolicyRules(parts), configurations: createConfigurationRules(parts) }
  return {
    administration: (surface) => [
      evaluateRoute(createResourceRoutes({ ...surface, ...own }), { ...evaluation, ...rules, clock }),
    ],
  }
}
