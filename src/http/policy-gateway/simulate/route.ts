import type { EventFacts } from '../../../domain/audit/event/facts.ts'
import { unsaved, type SavedConfiguration } from '../../../domain/gateway-config/configuration.ts'
import type { Simulation, SimulationInput, TriedPolicy, Simulate } from '../../../domain/evaluation/simulate.ts'
import { outcomesOf } from '../../../domain/evaluation/verdict/outcomes.ts'
import { verdictFacts } from '../../../domain/evaluation/verdict/format.ts'
import { contentOf } from '../../../domain/policy/content.ts'
import type { Actor } from '../../../domain/mutations/audit-log.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import { ConditionalHeaders, timeOfIfMatch } from '../../resources/if-match.ts'
import { admitRequest } from '../../resources/limit.ts'
import { actorOf, type ResourceActor } from '../../resources/route.ts'
import { warningHeader } from '../../gateway-headers.ts'
import type { Route } from '../../route.ts'
import { createValidator, invalidField } from '../../validate.ts'
import type { GatewayRoutes, GatewaySurface } from '../routes.ts'
import * as Schema from './schema.ts'
import type { SimulateBody, SimulateAnswer } from './schema.ts'
import type { Static } from 'typebox'
import type { GivenConfiguration } from '../../../domain/gateway-config/complete.ts'
import { presentOutcome } from '../../resources/outcome.ts'
import { contextOf, requestOf, requireProject, type DecodeBody } from '../../resources/scenario.ts'
import type { ConfigurationAdministration } from '../../../domain/gateway-config/mutations.ts'
import type { EventLog } from '../../../domain/audit/log.ts'
import type { GatewayStore } from '../../../domain/gateway-config/store.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'

type SimulateParts = Pick<GatewaySurface, 'authenticate' | 'limits' | 'clock'> & {
  readonly configurations: ConfigurationAdministration
  readonly simulate: Simulate
  readonly decodeBody: DecodeBody
  readonly policies: NamedPolicyStore
}

type NamedPolicyStore = Pick<PolicyStore, 'find' | 'unknownProjects'>

/** `/api/policy-gateway/simulate`: a read; with `persist` also a mutation. */
export function simulateRoute(
  { perform }: GatewayRoutes<{ readonly gateway: GatewayStore; readonly eventLog: EventLog }>,
  parts: SimulateParts,
): Route {
  const { authenticate, clock, configurations, simulate } = parts
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
      const {
        status,
        headers,
        body: answer,
      } = await perform(request, actor, async ({ gateway, eventLog }) => {
        // Without a configuration in the request, the saved one stays unchanged.
        const kept = config ?? ((await gateway.find(organizationId)) ?? unsaved).config
        const { value, ...rest } = await configurations.save(gateway, { organizationId, config: kept, seenAtMs })
        const by = actorOf(request, actor)
        await eventLog.append(
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

type Body = Static<typeof SimulateBody>
/** The configuration in the body and the prefix of its fields; undefined if the saved one is to be evaluated. */
function givenIn({ policy, config }: Body): [given: GivenConfiguration, paramPrefix: string] | undefined {
  if (policy !== undefined) return [policy, 'policy.']
  return config && [config, 'config.']
}

type InputParts = {
  readonly actor: ResourceActor
  readonly config: SimulationInput['config']
  readonly parts: SimulateParts
}

async function inputOf(body: Body, { actor, config, parts }: InputParts): Promise<SimulationInput> {
  const { scenario = {}, categories = [], policies: includesInForce = true, judge: usesJudge = true } = body
  const { policies, decodeBody } = parts
  const organizationId = actor.organization.id
  await requireProject(policies, actor, scenario.project_id)
  const projectId = 'projectId' in actor ? actor.projectId : undefined
  const { inForce, tried } = await namedPolicies(body, actor, policies)
  return {
    organizationId,
    config,
    policies: { includesInForce, tried },
    usesJudge,
    scenario: {
      request: requestOf(scenario, decodeBody),
      direction: scenario.direction ?? 'request',
      categories: scenario.categories ?? categories,
      context: { ...contextOf(scenario, { credentialId: actor.id, projectId }), policyIds: inForce },
    },
  }
}

type NamedPolicies = { readonly inForce: readonly string[]; readonly tried: readonly TriedPolicy[] }

/** A policy in force applies as if the request named it. Of any other policy the draft is evaluated. */
async function namedPolicies(
  { policy_ids: ids = [] }: Body,
  actor: ResourceActor,
  store: NamedPolicyStore,
): Promise<NamedPolicies> {
  const inForce: string[] = []
  const tried: TriedPolicy[] = []
  for (const [at, id] of ids.entries()) {
    const policy = await store.find(actor.organization.id, id)
    if (!policy) throw invalidField(['policy_ids', at], 'must name a policy of the organization')
    if (policy.state === 'monitoring' || policy.state === 'enforcing') inForce.push(id)
    else {
      requirePermission(actor.permissions, 'policies:read')
      tried.push({
        id,
        name: policy.name,
        version: undefined,
        content: { ...contentOf(policy.draft), scope: 'unattached' },
      })
    }
  }
  return { inForce, tried }
}

function presentSimulation(simulation: Simulation): Omit<Static<typeof SimulateAnswer>, 'warnings'> {
  const { verdict, findings, plan } = simulation
  const { decision, effectiveDecision, deciding, decisions } = verdict
  const { config } = plan.gateway
  // Without a deciding check, the configuration's reason code for `allow` is reported.
  const { reasonCode } = deciding ?? decisions.find(({ check }) => check === 'gateway') ?? {}
  return {
    decision,
    reason_code: reasonCode ?? decision.toUpperCase(),
    triggered_categories: [...new Set(decisions.flatMap(({ triggeredCategories }) => triggeredCategories))],
    rollout_mode: deciding?.check === 'policy' ? deciding.rolloutMode : plan.rollout.mode,
    policy_id: deciding?.policyId ?? config.policy_id,
    effective_decision: effectiveDecision,
    enforced: deciding?.isEnforced ?? plan.rollout.isEnforced,
    allowlist_hits: [...findings.allowlistHits],
    denylist_hits: [...findings.denylistHits],
    redactions: config.rules.redact ? { ...findings.personalData } : {},
    scores: { ...findings.scores },
    results: outcomesOf(simulation).map(presentOutcome),
  }
}
