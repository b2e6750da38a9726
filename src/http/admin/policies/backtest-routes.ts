import type { Route } from '../../route.ts'
import { none } from '../../resources/fields.ts'
import type { AdminParts, AdminRoutes } from '../parts.ts'
import { newBacktestOf, presentBacktest } from './backtest-present.ts'
import * as Schema from './backtest-schema.ts'
import { PolicyParams } from './schema.ts'

const backtests = '/v1/organization/policies/{policy_id}/backtest'

const answer = { description: 'The backtest.', schema: Schema.Backtest }

/** Backtests of policy drafts. */
export function backtestRoutes({ read, mutation }: AdminRoutes, { backtests: operations }: AdminParts): Route[] {
  return [
    mutation({
      method: 'POST',
      path: backtests,
      summary: 'Backtest a policy draft',
      description:
        'Replays requests whose texts are in the audit log against the current draft. Runs in the background: poll it until its status is `completed`.',
      permission: 'policies:write',
      params: PolicyParams,
      query: none,
      body: Schema.CreateBacktest,
      status: 201,
      answer,
      operation: (stores, { actor, params, body }) =>
        operations.start(
          stores,
          { organizationId: actor.organization.id, policyId: params.policy_id },
          newBacktestOf(body),
        ),
      present: presentBacktest,
    }),
    read({
      path: `${backtests}/{backtest_id}`,
      summary: 'Read a backtest',
      permission: 'policies:read',
      params: Schema.BacktestParams,
      query: none,
      answer,
      operation: async (reads, { actor, params }) =>
        presentBacktest(
          await operations.find(
            reads,
            { organizationId: actor.organization.id, policyId: params.policy_id },
            params.backtest_id,
          ),
        ),
    }),
  ]
}
