import type { EventFacts } from '../../../domain/audit/event/facts.ts'
import { unsaved, type SavedConfiguration } from '../../../domain/gateway-config/configuration.ts'
import type { Simulation } from '../../../domain/evaluation/simulate.ts'
import { verdictFacts } from '../../../domain/evaluation/verdict/format.ts'
import type { Actor } from '../../../domain/mutations/audit-log.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import { ConditionalHeaders, timeOfIfMatch } from '../../resources/if-match.ts'
import { admitRequest } from '../../resources/limit.ts'
import { actorOf } from '../../resources/route.ts'
import type { ResourceActor } from '../../resources/spec.ts'
import { warningHeader } from '../../gateway-headers.ts'
import type { Route } from '../../route.ts'
import { createValidator } from '../../validate.ts'
import type { GatewayRoutes } from '../routes.ts'
import * as Schema from './schema.ts'
import type { GivenConfiguration } from '../../../domain/gateway-config/complete.ts'
import type { EventLog } from '../../../domain/audit/log.ts'
import type { ConfigurationGateStores } from '../../../domain/gate/configuration-gate.ts'
import { type Body, inputOf } from './input.ts'
import type { SimulateRouteParts } from './input.ts'
import { presentSimulation } from './present.ts'

/** `/api/policy-gateway/simulate`: a read; with `persist` also a mutation. */
export function simulateRoute(
  { perform }: GatewayRoutes<ConfigurationGateStores & { readonly eventLog: EventLog }>,
  parts: SimulateRouteParts,
): Route {
  const { authenticate, clock, configurations, gate, runCandidateCases, simulate } = parts
  const readBody = createValidator(Schema.SimulateBody)
  return {
    name: 'simulateGatewayConfig',
    method: 'POST',
    path: '/api/policy-gateway/simulate',
    summary: 'Simulate a decision',
    description:
      'Answers what a request or response would get: evaluates `policy`, else `config`, else the saved configuration, and the policies of the organization that apply, with the code that evaluates requests and responses. Nothing is sent to the requested model, and nothing counts against a quota. A rule in plain language is evaluated by the judge model if one is configured, unless `judge` is false.',
    credential: 'gateway',
    permission: 'gateway:read',
    bodyLimitBytes: 1024 * 1024,
    headers: ConditionalHeaders,
    body: Schema.SimulateBody,
    answers: {
      200: {
        description:
          'The decision. The header `x-gatehouse-warning` has the codes of the warnings about the configuration.',
        schema: Schema.SimulateAnswer,
        headers: ['x-gatehouse-warning'],
      },
    },
    errorStatuses: [400, 401, 403, 409, 413, 422, 429, 500, 503],
    async handle(request, reply) {
      const actor = await authenticate(request)
      using _slot = admitRequest(parts, actor)
      requirePermission(actor.permissions, 'gateway:read')
      const body = readBody(request.body ?? {})
      if (body.persist) requirePermission(actor.permissions, 'gateway:write')
      const seenAtMs = timeOfIfMatch(request.headers['if-match'])
      const given = givenIn(body)
      const organizationId = actor.organization.id
      const config = given && configurations.check(...given)
      const simulation = await simulate(await inputOf(body, { actor, config, parts }))
      const warnings = configurations.warningsOf(simulation.plan.gateway.config)
      const presented = { ...presentSimulation(simulation), warnings: [...warnings] }
      reply.headers(warningHeader(warnings))
      if (!body.persist) return presented
      // Evaluated before the transaction starts, because an evaluation can be slow.
      const outcome =
        config === undefined ? { cases: [], results: [] } : await runCandidateCases(parts.reads, actor, config)
      const {
        status,
        headers,
        body: answer,
      } = await perform(request, actor, async (stores) => {
        // Without a configuration in the request, the saved one stays unchanged.
        const kept = config ?? ((await stores.gateway.find(organizationId)) ?? unsaved).config
        const { value, ...rest } = await gate.save(stores, {
          organizationId,
          config: kept,
          by: actor.id,
          outcome,
          runId: undefined,
          overrideReason: undefined,
          seenAtMs,
        })
        const by = actorOf(request, actor)
        await stores.eventLog.append(
          runFacts(simulation, { actor: by, principal: actor, saved: value, timeMs: clock.nowMs() }),
        )
        return { ...rest, value: { status: 200, headers: {}, body: presented } }
      })
      reply.code(status).headers(headers)
      return answer
    },
  }
}

type Run = {
  readonly actor: Actor
  readonly principal: ResourceActor
  readonly saved: SavedConfiguration
  readonly timeMs: number
}

/** The audit event of the run, which the history lists. */
function runFacts(
  { verdict, plan, scenario: { direction } }: Simulation,
  { actor, principal, saved, timeMs }: Run,
): EventFacts {
  return {
    code: 'gateway.simulation.run',
    organizationId: actor.organizationId,
    timeMs,
    message: `A simulation ended in ${verdict.decision}, and its configuration was saved.`,
    requestId: actor.requestId ?? undefined,
    projectId: 'projectId' in principal ? principal.projectId : undefined,
    actor: { credentialId: actor.credentialId ?? undefined },
    call: actor.call,
    verdict: {
      ...verdictFacts(verdict, { plan, direction }),
      policy: { id: saved.config.policy_id, version: saved.version },
    },
    details: { actor_type: actor.kind },
  }
}

/** The configuration in the body and the prefix of its fields; undefined if the saved one is to be evaluated. */
function givenIn({ policy, config }: Body): [given: GivenConfiguration, paramPrefix: string] | undefined {
  if (policy !== undefined) return [policy, 'policy.']
  return config && [config, 'config.']
}
