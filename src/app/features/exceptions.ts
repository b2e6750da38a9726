import { exceptionStore } from '../../adapters/stores/sql/policies/exceptions.ts'
import { policyStore } from '../../adapters/stores/sql/policies/policies.ts'
import { createExceptions } from '../../domain/exceptions/exceptions.ts'
import { createFindDeniedTexts } from '../../domain/explanation/denied-texts.ts'
import { exceptionRoutes } from '../../http/admin/policies/exception-routes.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { EvaluationParts, Feature, FeatureParts } from './feature.ts'

/** Requests for which a policy is not enforced for some days. */
export function createExceptionFeature(
  { clock, ids, stores }: FeatureParts,
  { simulate }: Pick<EvaluationParts, 'simulate'>,
): Feature {
  const own = stores.of((tx) => ({
    policies: policyStore(tx),
    exceptions: exceptionStore(tx),
    events: stores.eventsIn(tx),
  }))
  const exceptions = createExceptions({ ids, clock })
  const findDeniedTexts = createFindDeniedTexts(simulate)
  return {
    administration: (surface) =>
      exceptionRoutes(createResourceRoutes({ ...surface, ...own }), { exceptions, findDeniedTexts, clock }),
  }
}
