import type { Static } from 'typebox'
import type { GatewayBacktest } from '../../../domain/evaluation/backtest/backtest.ts'
import {
  findGatewayBacktest,
  type GatewayBacktestAdministration,
  type GatewayBacktestStore,
} from '../../../domain/evaluation/backtest/gateway-create.ts'
import { unsaved } from '../../../domain/gateway-config/configuration.ts'
import { digestOf, type ConfigurationAdministration } from '../../../domain/gateway-config/mutations.ts'
import type { GatewayStore } from '../../../domain/gateway-config/store.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import { eventChoiceOf, presentEnd, presentProgress, presentProjects } from '../../resources/backtests.ts'
import { none } from '../../resources/fields.ts'
import { listQuery, pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import type { GatewayRoutes } from '../routes.ts'
import * as Schema from './backtest-schema.ts'

const path = '/api/policy-gateway/config/backtest'
const one = `${path}/{backtest_id}`
const answer = { description: 'The backtest.', schema: Schema.GatewayBacktestObject }

export type GatewayBacktestRouteParts = {
  readonly backtests: GatewayBacktestAdministration
  readonly configurations: ConfigurationAdministration
}

type Stores = { readonly gateway: GatewayStore; readonly backtests: GatewayBacktestStore }

/** Backtests of gateway configurations. */
export function gatewayBacktestRoutes(
  { read, mutation }: GatewayRoutes<Stores>,
  { backtests, configurations }: GatewayBacktestRouteParts,
): Route[] {
  const create = mutation({
    name: 'createGatewayBacktest',
    method: 'POST',
    path,
    summary: 'Backtest a gateway configuration',
    description:
      'Replays requests whose texts are in the audit log against `config`, or against the saved configuration without it, and compares with what happened to them. Saves no configuration. Its rollout is left out: the result is that of a configuration that is enforced for everybody. Runs in the background: poll it until its status is `completed`. Also needs the permission `content:read`, because the counts of chosen terms reveal what the texts contain.',
    permission: 'gateway:write',
    params: none,
    query: none,
    body: Schema.CreateGatewayBacktest,
    bodyLimitBytes: 1024 * 1024,
    status: 201,
    answer,
    async operation(stores, { actor, body }) {
      requirePermission(actor.permissions, 'content:read')
      const organizationId = actor.organization.id
      const config = body.config
        ? configurations.check(body.config, 'config.')
        : ((await stores.gateway.find(organizationId)) ?? unsaved).config
      return backtests.start(stores.backtests, organizationId, { ...eventChoiceOf(body), config })
    },
    present: presentGatewayBacktest,
  })
  return [
    // The key of a project cannot have the permission `content:read`.
    { ...create, exampleCredential: 'admin_key' },
    read({
      name: 'listGatewayBacktests',
      path,
      summary: 'List the backtests of gateway configurations',
      description: 'Backtests are kept for 30 days after their end.',
      permission: 'gateway:read',
      params: none,
      query: listQuery({}),
      answer: { description: 'A page of backtests.', schema: Schema.GatewayBacktestList },
      operation: async (stores, { actor, query }) =>
        presentList(await stores.backtests.list(actor.organization.id, null, pageOf(query)), presentGatewayBacktest),
    }),
    read({
      name: 'getGatewayBacktest',
      path: one,
      summary: 'Read a backtest of a gateway configuration',
      permission: 'gateway:read',
      params: Schema.GatewayBacktestParams,
      query: none,
      answer,
      operation: async (stores, { actor, params }) =>
        presentGatewayBacktest(await findGatewayBacktest(stores.backtests, actor.organization.id, params.backtest_id)),
    }),
    mutation({
      name: 'cancelGatewayBacktest',
      method: 'POST',
      path: `${one}/cancel`,
      summary: 'Cancel a backtest of a gateway configuration',
      description: 'A running backtest ends without a result. One that has ended stays as it is.',
      permission: 'gateway:write',
      params: Schema.GatewayBacktestParams,
      query: none,
      body: none,
      answer: { ...answer, example: Schema.cancelledExample },
      operation: (stores, { actor, params }) =>
        backtests.cancel(stores.backtests, actor.organization.id, params.backtest_id),
      present: presentGatewayBacktest,
    }),
  ]
}

type GatewayBacktestBody = Static<typeof Schema.GatewayBacktestObject>

const presentGatewayBacktest = (backtest: GatewayBacktest): GatewayBacktestBody => ({
  id: backtest.id,
  object: 'policy_gateway.backtest',
  config_digest: digestOf(backtest.parameters.config),
  ...presentProgress(backtest),
  result: backtest.status === 'completed' ? resultOf(backtest) : null,
  ...presentEnd(backtest),
})

function resultOf({ counts }: GatewayBacktest): NonNullable<GatewayBacktestBody['result']> {
  const { projects, decisions, not_evaluated_reasons: reasons, example_requests: requests, ...rest } = counts
  return {
    ...rest,
    projects: presentProjects(projects),
    decisions: [...decisions],
    not_evaluated_reasons: Object.entries(reasons).map(([reason, count]) => ({ reason, requests: count })),
    example_requests: [...requests],
  }
}
