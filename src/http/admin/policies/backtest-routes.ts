import type { Route } from '../../route.ts'
import { none } from '../../resources/fields.ts'
import { eventChoiceOf, presentEnd, presentProgress, presentProjects } from '../../resources/backtests.ts'
import { listQuery, pageOf, presentList } from '../../resources/list.ts'
import type { AdminRoutes } from '../routes.ts'
import * as Schema from './backtest-schema.ts'
import { PolicyParams } from './schema.ts'
import type { Static } from 'typebox'
import type { Backtest, BacktestStore } from '../../../domain/evaluation/backtest/backtest.ts'
import { scoreRange } from '../../../domain/evaluation/backtest/counts.ts'
import type { NewBacktest, PolicyId, BacktestAdministration } from '../../../domain/evaluation/backtest/create.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import { contentChanges, thresholdOf } from '../../../domain/policy/content.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'

const backtests = '/v1/organization/policies/{policy_id}/backtest'

const answer = { description: 'The backtest.', schema: Schema.Backtest }

/** Backtests of policy drafts. */
export function backtestRoutes(
  { read, mutation }: AdminRoutes<{ readonly backtests: BacktestStore; readonly policies: PolicyStore }>,
  operations: BacktestAdministration,
): Route[] {
  return [
    mutation({
      name: 'createBacktest',
      method: 'POST',
      path: backtests,
      summary: 'Backtest a policy draft',
      description:
        'Replays requests whose texts are in the audit log against the current draft. Runs in the background: poll it until its status is `completed`. Also needs the permission `content:read`, because the counts of a chosen rule reveal what the texts contain.',
      permission: 'policies:write',
      params: PolicyParams,
      query: none,
      body: Schema.CreateBacktest,
      status: 201,
      answer,
      operation: (stores, { actor, params, body }) => {
        requirePermission(actor.permissions, 'content:read')
        return operations.start(stores, policyOf(actor, params), newBacktestOf(body))
      },
      present: presentBacktest,
    }),
    read({
      name: 'listBacktests',
      path: backtests,
      summary: 'List the backtests of a policy',
      description: 'Backtests are kept for 30 days after their end.',
      permission: 'policies:read',
      params: PolicyParams,
      query: listQuery({}),
      answer: { description: 'A page of backtests.', schema: Schema.BacktestList },
      operation: async (reads, { actor, params, query }) =>
        presentList(await operations.list(reads, policyOf(actor, params), pageOf(query)), presentBacktest),
    }),
    mutation({
      name: 'cancelBacktest',
      method: 'POST',
      path: `${backtests}/{backtest_id}/cancel`,
      summary: 'Cancel a backtest',
      description: 'A running backtest ends without a result. One that has ended stays as it is.',
      permission: 'policies:write',
      params: Schema.BacktestParams,
      query: none,
      body: none,
      answer: { ...answer, example: Schema.cancelledExample },
      operation: (stores, { actor, params }) => operations.cancel(stores, policyOf(actor, params), params.backtest_id),
      present: presentBacktest,
    }),
    read({
      name: 'getBacktest',
      path: `${backtests}/{backtest_id}`,
      summary: 'Read a backtest',
      permission: 'policies:read',
      params: Schema.BacktestParams,
      query: none,
      answer,
      operation: async (reads, { actor, params }) =>
        presentBacktest(await operations.find(reads, policyOf(actor, params), params.backtest_id)),
    }),
  ]
}

const policyOf = (
  actor: { readonly organization: { readonly id: string } },
  params: { readonly policy_id: string },
): PolicyId => ({ organizationId: actor.organization.id, policyId: params.policy_id })

type BacktestBody = Static<typeof Schema.Backtest>

const presentBacktest = (backtest: Backtest): BacktestBody => ({
  id: backtest.id,
  object: 'organization.policy.backtest',
  policy_id: backtest.policyId,
  revision: backtest.parameters.revision,
  has_changes: backtest.parameters.hasChanges === true,
  ...presentProgress(backtest),
  result: backtest.status === 'completed' ? resultOf(backtest) : null,
  ...presentEnd(backtest),
})

function resultOf({ counts, parameters }: Backtest): NonNullable<BacktestBody['result']> {
  const { projects, sweep, scores, examples, example_requests: requests, ...rest } = counts
  return {
    threshold_basis_points: thresholdOf(parameters.draft),
    ...rest,
    projects: presentProjects(projects),
    sweep: [...sweep],
    scores: presentScores(scores),
    examples: {
      newly_blocked: [...examples.newly_blocked],
      newly_allowed: [...examples.newly_allowed],
      changed_reason: [...examples.changed_reason],
      not_evaluated: [...examples.not_evaluated],
    },
    example_requests: [...requests],
  }
}

/** The ranges with at least one request. */
const presentScores = ({ allowed, blocked_by_policy: blocked, other }: Backtest['counts']['scores']) =>
  allowed
    .map((requests, at) => ({
      from_basis_points: at * scoreRange,
      allowed: requests,
      blocked_by_policy: blocked[at] ?? 0,
      other: other[at] ?? 0,
    }))
    .filter((range) => range.allowed + range.blocked_by_policy + range.other > 0)

const newBacktestOf = (body: Static<typeof Schema.CreateBacktest>): NewBacktest =>
  omitUndefined({
    ...eventChoiceOf(body),
    thresholds: body.thresholds,
    changes: body.changes && contentChanges(body.changes),
  })
