import type { GatewayConfiguration } from '../../../domain/gateway-config/configuration.ts'
import type { ConfigurationAdministration } from '../../../domain/gateway-config/mutations.ts'
import type { RunGatewayCases } from '../../../domain/cases/run.ts'
import type {
  ConfigurationGate,
  ConfigurationGateStores,
  GatewayCaseOutcome,
} from '../../../domain/gate/configuration-gate.ts'
import { findRun } from '../../../domain/gate/gate-run.ts'
import { holds, requirePermission } from '../../../domain/identity/permissions.ts'
import { none } from '../../resources/fields.ts'
import { listQuery, pageOf, presentList } from '../../resources/list.ts'
import { scenarioDecoder, type DecodeBody } from '../../resources/scenario.ts'
import type { ResourceActor } from '../../resources/spec.ts'
import type { Route } from '../../route.ts'
import type { GatewayRoutes } from '../routes.ts'
import * as Schema from './gate-schema.ts'

const path = '/api/policy-gateway/config/gate'
const one = `${path}/{gate_run_id}`
const answer = { description: 'The run.', schema: Schema.GatewayRunObject }
const mayNotRead = 'Requests were not replayed: the key that started the run lacks the permission content:read.'

/** Runs the cases of the gateway configuration on one that may not be saved yet. */
export type RunCandidateCases = (
  stores: Pick<ConfigurationGateStores, 'gatewayCases'>,
  actor: ResourceActor,
  config: GatewayConfiguration,
) => Promise<GatewayCaseOutcome>

export const createRunCandidateCases =
  (runCases: RunGatewayCases, decodeBody: DecodeBody): RunCandidateCases =>
  async ({ gatewayCases }, actor, config) => {
    const organizationId = actor.organization.id
    const cases = await gatewayCases.all({ organizationId, policyId: null })
    const scenarioOf = scenarioDecoder(decodeBody, actor.id)
    return { cases, results: await runCases({ organizationId, config, cases, scenarioOf }) }
  }

export type GatewayGateRouteParts = {
  readonly gate: ConfigurationGate
  readonly configurations: ConfigurationAdministration
  readonly runCandidateCases: RunCandidateCases
}

/** Runs of the publish gate on gateway configurations. */
export function gatewayGateRoutes(
  { read, mutation }: GatewayRoutes<ConfigurationGateStores>,
  { gate, configurations, runCandidateCases }: GatewayGateRouteParts,
): Route[] {
  const approve = mutation({
    name: 'approveGatewayGateRun',
    method: 'POST',
    path: `${one}/approve`,
    summary: 'Approve a gateway configuration that was run',
    description:
      'Once by each person, and not by the one who started the run. Also needs the permission `policies:publish`.',
    permission: 'gateway:write',
    params: Schema.GatewayRunParams,
    query: none,
    body: none,
    answer,
    operation(stores, { actor, params }) {
      requirePermission(actor.permissions, 'policies:publish')
      return gate.approve(stores, { organizationId: actor.organization.id, id: params.gate_run_id }, actor.id)
    },
    present: Schema.presentGatewayRun,
  })
  return [
    mutation({
      name: 'startGatewayGateRun',
      method: 'POST',
      path,
      summary: 'Run the publish gate on a gateway configuration',
      description:
        'Runs the cases of the gateway configuration with `config`, and starts the backtest that the gate asks for: poll the run until its state is not `running`. Requests are replayed only if the key has the permission `content:read`. Saves no configuration.',
      permission: 'gateway:write',
      params: none,
      query: none,
      body: Schema.StartGatewayRun,
      bodyLimitBytes: 1024 * 1024,
      status: 201,
      answer,
      prepare: (reads, { actor, body }) =>
        runCandidateCases(reads, actor, configurations.check(body.config, 'config.')),
      operation(stores, { actor, body, prepared }) {
        const replayProblem = holds(actor.permissions, 'content:read') ? null : mayNotRead
        const config = configurations.check(body.config, 'config.')
        const outcome = prepared ?? { cases: [], results: [] }
        return gate.start(stores, {
          organizationId: actor.organization.id,
          config,
          by: actor.id,
          outcome,
          replayProblem,
        })
      },
      present: Schema.presentGatewayRun,
    }),
    read({
      name: 'listGatewayGateRuns',
      path,
      summary: 'List the runs of the publish gate on gateway configurations',
      description: 'Runs are kept for 30 days.',
      permission: 'gateway:read',
      params: none,
      query: listQuery({}),
      answer: { description: 'A page of runs.', schema: Schema.GatewayRunList },
      async operation(stores, { actor, query }) {
        const { items, ...page } = await stores.gate.listRuns(actor.organization.id, null, pageOf(query))
        const reports = await Promise.all(items.map((run) => gate.report(stores, run)))
        return presentList({ ...page, items: reports.map(Schema.presentGatewayRun) }, (run) => run)
      },
    }),
    read({
      name: 'getGatewayGateRun',
      path: one,
      summary: 'Read a run of the publish gate on a gateway configuration',
      permission: 'gateway:read',
      params: Schema.GatewayRunParams,
      query: none,
      answer,
      async operation(stores, { actor, params }) {
        const of = { organizationId: actor.organization.id, policyId: null, id: params.gate_run_id }
        return Schema.presentGatewayRun(await gate.report(stores, await findRun(stores.gate, of)))
      },
    }),
    // The key of a project cannot have the permission `policies:publish`.
    { ...approve, exampleCredential: 'admin_key' },
  ]
}
