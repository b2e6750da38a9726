import Type from 'typebox'
import { remainingMicro } from '../../domain/credits/ledger-store.ts'
import { inUsd, displayedBalance } from '../../domain/credits/formatting.ts'
import type { ReadBalance } from '../../pipeline/billing/read-balance.ts'
import type { CallerOf } from '../caller.ts'
import type { Route } from '../route.ts'

const CreditsAnswer = Type.Object(
  {
    data: Type.Object(
      {
        total_credits: Type.Number({ description: 'Total credits granted and bought, in dollars.', examples: [10] }),
        total_usage: Type.Number({ description: 'Total credits used, in dollars.', examples: [0.0117] }),
        remaining_credits: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
          description: 'Remaining whole credits; null if the organization is not metered.',
          examples: [9988],
        }),
        remaining_usd: Type.Union([Type.Number({ minimum: 0 }), Type.Null()], {
          description:
            'What is left in dollars, exactly: `total_credits` less `total_usage`; null if the organization is not metered.',
          examples: [9.9883],
        }),
        currency: Type.Literal('USD'),
      },
      { description: 'The balance.' },
    ),
  },
  {
    title: 'Credits',
    examples: [
      {
        data: {
          total_credits: 10,
          total_usage: 0.0117,
          remaining_credits: 9988,
          remaining_usd: 9.9883,
          currency: 'USD',
        },
      },
    ],
  },
)

export type CreditRouteParts = {
  readonly callerOf: Pick<CallerOf, 'principal'>
  readonly readBalance: ReadBalance
  readonly creditUsd: number
}

export function creditRoutes({ callerOf, readBalance, creditUsd }: CreditRouteParts): Route[] {
  return [
    {
      name: 'getCredits',
      method: 'GET',
      path: '/v1/credits',
      summary: 'Read the credit balance',
      description: '60 reads a minute for a key, 300 for an organization. The balance may be five seconds old.',
      credential: 'api_key',
      answers: { 200: { description: 'The balance of the key’s organization.', schema: CreditsAnswer } },
      errorStatuses: [401, 403, 429, 500, 503],
      async handle(request) {
        const principal = await callerOf.principal(request)
        const balance = await readBalance(principal)
        const isMetered = principal.organization.metered
        const remaining = Math.max(0, remainingMicro(balance))
        return {
          data: {
            total_credits: inUsd(balance.grantedMicro, creditUsd),
            total_usage: inUsd(balance.spentMicro, creditUsd),
            remaining_credits: isMetered ? displayedBalance(remaining) : null,
            remaining_usd: isMetered ? inUsd(remaining, creditUsd) : null,
            currency: 'USD',
          },
        }
      },
    },
  ]
}
