import Type from 'typebox'
import type { InferenceEnd } from '../../../domain/inference/events.ts'
import { policyDecision } from '../policy-decision.ts'

/** The fields with the cost of an answer, and with the policy that changed it. */
export const creditFields = ({ receipt, policy }: InferenceEnd) => ({
  remaining_credits: receipt?.remainingCredits ?? null,
  estimated_credits_used: receipt?.creditsUsed ?? 0,
  estimated_cost_usd: receipt?.costUsd ?? 0,
  ...(policy === undefined ? {} : { policy }),
})

/** Their schema. */
export const creditProperties = {
  remaining_credits: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Balance after the call; null for the free request and for organizations that are not metered.',
    examples: [9988],
  }),
  estimated_credits_used: Type.Integer({ minimum: 0, description: 'Credits consumed by the call.', examples: [12] }),
  estimated_cost_usd: Type.Number({ minimum: 0, description: 'Their price in dollars.', examples: [0.0117] }),
  policy: Type.Optional(
    policyDecision('Present if a policy did not simply allow the response: its decision, reason and audit event.'),
  ),
}
