import { caseStore } from '../../adapters/stores/sql/policies/cases.ts'
import { exceptionStore } from '../../adapters/stores/sql/policies/exceptions.ts'
import { gatewayStore } from '../../adapters/stores/sql/policies/gateway-configurations.ts'
import { policyStore } from '../../adapters/stores/sql/policies/policies.ts'
import { createAppeals } from '../../domain/appeals/appeals.ts'
import { createResolveAppeal } from '../../domain/appeals/resolve.ts'
import { createExceptions } from '../../domain/exceptions/exceptions.ts'
import { createFindDeniedTexts } from '../../domain/explanation/denied-texts.ts'
import { createCases } from '../../domain/cases/cases.ts'
import { labelRoute } from '../../http/admin/appeals/label-route.ts'
import { reviewRoutes } from '../../http/admin/appeals/review-routes.ts'
import { appealRoutes } from '../../http/admin/appeals/routes.ts'
import { decisionAppealRoute } from '../../http/decisions/appeal-route.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import { appealStores } from '../appeals.ts'
import type { EvaluationParts, Feature, FeatureParts } from './feature.ts'
import { createPolicyRules } from './policies.ts'

/** Appeals against decisions, by keys of projects and by administrators, and their reviews. */
export function createAppealFeature(parts: FeatureParts, { simulate }: Pick<EvaluationParts, 'simulate'>): Feature {
  const { clock, ids, stores } = parts
  const own = stores.of((tx) => ({
    ...appealStores(stores)(tx),
    events: stores.eventsIn(tx),
    policies: policyStore(tx),
    cases: caseStore(tx, stores.encryptions.caseTexts),
    exceptions: exceptionStore(tx),
    gateway: gatewayStore(tx),
  }))
  const appeals = createAppeals({ ids, clock })
  const resolve = createResolveAppeal({
    clock,
    cases: createCases({ ids, clock }),
    policies: createPolicyRules(parts),
    exceptions: createExceptions({ ids, clock }),
  })
  const findDeniedTexts = createFindDeniedTexts(simulate)
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      const reviews = reviewRoutes(routes, { appeals, resolve, findDeniedTexts, clock })
      return [...appealRoutes(routes, { appeals, clock }), ...reviews, labelRoute(routes, clock)]
    },
    decisions: (surface) => [decisionAppealRoute(createResourceRoutes({ ...surface, ...own }), { appeals, clock })],
  }
}
