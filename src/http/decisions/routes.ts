import type { AdmitRead } from '../../pipeline/billing/read-limit.ts'
import type { CallerOf } from '../caller.ts'
import type { Route } from '../route.ts'
import { createQueryValidator } from '../validate.ts'
import type { ReadDecision } from './read-decision.ts'
import { DecisionObject, DecisionParams } from './schema.ts'

export type DecisionRouteParts = {
  readonly callerOf: Pick<CallerOf, 'principal'>
  readonly decisions: { readonly admit: AdmitRead; readonly read: ReadDecision }
}

/** `/v1/decisions`: what a caller learns about a decision on a request of its project. */
export function decisionRoute({ callerOf, decisions }: DecisionRouteParts): Route {
  const readParams = createQueryValidator(DecisionParams)
  return {
    name: 'getDecision',
    method: 'GET',
    path: '/v1/decisions/{event_id}',
    summary: 'Explain a decision to its caller',
    description:
      'Why a request of the key’s project was decided as it was, as far as the configuration `explanations.to_callers` allows, and the state of the appeal against it. Ten reads a minute for a key.',
    credential: 'api_key',
    params: DecisionParams,
    answers: { 200: { description: 'The decision.', schema: DecisionObject } },
    errorStatuses: [401, 403, 404, 422, 429, 500, 503],
    async handle(request) {
      const principal = await callerOf.principal(request)
      const { event_id: eventId } = readParams(request.params)
      await decisions.admit(principal)
      const { organization, projectId } = principal
      return (await decisions.read({ organizationId: organization.id, projectId, eventId })).body
    },
  }
}
