import Type from 'typebox'
import type { InferenceEnd } from '../../../domain/inference/events.ts'

/** What each inference answer says about its price, and about the policy that shaped it. */
export const creditFields = ({ receipt, policy }: InferenceEnd) => ({
  remaining_credits: receipt?.remainingCredits ?? null,
  estimated_credits_used: receipt?.creditsUsed ?? 0,
  estimated_cost_usd: receipt?.costUsd ?? 0,
  ...(policy === undefined ? {} : { policy }),
})

/** The same fields for the schemas of the answers. */
export const creditProperties = {
  remaining_credits: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Balance after the call; null for the free request and where nothing is metered.',
    examples: [9988],
  }),
  estimated_credits_used: Type.Integer({ minimum: 0, description: 'Credits consumed by the call.', examples: [12] }),
  estimated_cost_usd: Type.Number({ minimum: 0, examples: [0.0117] }),
  policy: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Present where a policy did anything but allow the answer: its decision, reason and audit event.',
    }),
  ),
}
