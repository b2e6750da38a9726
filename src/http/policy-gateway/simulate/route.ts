import type { EventFacts } from '../../../domain/audit/event/facts.ts'
import { unsaved, type SavedConfiguration } from '../../../domain/gateway-config/configuration.ts'
import type { Simulation, Scenario } from '../../../domain/evaluation/simulate.ts'
import { verdictFacts } from '../../../domain/evaluation/verdict/format.ts'
import type { Actor } from '../../../domain/identity/audit-log.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import { ConditionalHeaders, timeOfIfMatch } from '../../resources/if-match.ts'
import { admitRequest } from '../../resources/limit.ts'
import { actorOf, type ResourceActor } from '../../resources/route.ts'
import type { Route } from '../../route.ts'
import { createValidator } from '../../validate.ts'
import type { GatewayParts, GatewayRoutes } from '../parts.ts'
import * as Schema from './schema.ts'
import type { SimulateBody, SimulateAnswer } from './schema.ts'
import type { Static } from 'typebox'
import type { GivenConfiguration } from '../../../domain/gateway-config/complete.ts'
import { joinedFragments } from '../../../domain/evaluation/texts/joined-fragments.ts'
import { stringsIn, wordsIn } from '../../../domain/evaluation/texts/text-fields.ts'
import { vendorFieldRoles } from '../../../wire/field-roles.ts'

/** `/api/policy-gateway/simulate`: a read; with `persist` also a mutation. */
export function simulateRoute({ perform }: GatewayRoutes, parts: GatewayParts): Route {
  const { callerOf, clock, configurations, simulate } = parts
  const readBody = createValidator(Schema.SimulateBody)
  return {
    name: 'simulateGatewayConfig',
    method: 'POST',
    path: '/api/policy-gateway/simulate',
    summary: 'Simulate a decision',
    description:
      'Evaluates `policy`, else `config`, else the saved configuration, with the code that evaluates requests and responses. Nothing is sent to a model, nothing counts against a quota, and organization policies are not evaluated.',
    credential: 'gateway',
    permission: 'gateway:read',
    bodyLimitBytes: 1024 * 1024,
    headers: ConditionalHeaders,
    body: Schema.SimulateBody,
    answers: { 200: { description: 'The decision.', schema: Schema.SimulateAnswer } },
    errorStatuses: [400, 401, 403, 409, 413, 422, 429, 500, 503],
    async handle(request, reply) {
      const actor = await callerOf.manager(request)
      using _slot = admitRequest(parts, actor)
      requirePermission(actor.permissions, 'gateway:read')
      const body = readBody(request.body ?? {})
      if (body.persist) requirePermission(actor.permissions, 'gateway:write')
      const seenAtMs = timeOfIfMatch(request.headers['if-match'])
      const given = givenIn(body)
      const organizationId = actor.organization.id
      const simulation = await simulate({
        organizationId,
        credentialId: actor.id,
        config: given && configurations.check(...given),
        scenario: scenarioIn(body),
      })
      if (!body.persist) return presentSimulation(simulation)
      // Evaluated before the transaction starts, because an evaluation can be slow.
      const { config } = simulation.plan.gateway
      const {
        status,
        headers,
        body: answer,
      } = await perform(request, actor, async ({ gateway, eventLog }) => {
        // Without a configuration in the request, the saved one stays unchanged.
        const kept = given ? config : ((await gateway.find(organizationId)) ?? unsaved).config
        const { value, ...rest } = await configurations.save(gateway, { organizationId, config: kept, seenAtMs })
        const by = actorOf(request, actor)
        await eventLog.append(
          runFacts(simulation, { actor: by, principal: actor, saved: value, timeMs: clock.nowMs() }),
        )
        return { ...rest, value: { status: 200, headers: {}, body: presentSimulation(simulation) } }
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
function runFacts({ verdict, plan, direction }: Simulation, { actor, principal, saved, timeMs }: Run): EventFacts {
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
type Message = NonNullable<NonNullable<Body['scenario']>['messages']>[number]

/** The configuration in the body and the prefix of its fields; undefined if the saved one is to be evaluated. */
function givenIn({ policy, config }: Body): [given: GivenConfiguration, paramPrefix: string] | undefined {
  if (policy !== undefined) return [policy, 'policy.']
  return config && [config, 'config.']
}

function scenarioIn({ scenario = {}, categories = [] }: Body): Scenario {
  const { text, messages = [], direction = 'request', user, target } = scenario
  const texts = [...messages.flatMap(textsOf), ...(text === undefined ? [] : [text])]
  return {
    texts: texts.filter((each) => each.trim() !== ''),
    joinedFragments: messages.flatMap(joinedFragmentsIn),
    direction,
    categories: scenario.categories ?? categories,
    user,
    target,
  }
}

/** The texts of each block, as in the request pipeline. Of blocks that are not text, every string in them. */
function textsOf({ role: _role, content, ...rest }: Message): readonly string[] {
  const blocks = typeof content === 'string' ? [content] : (content ?? []).flatMap(textsOfBlock)
  return [...blocks, stringsIn(rest).join('\n')]
}

function textsOfBlock(block: object): readonly string[] {
  const text = plainTextOf(block)
  if (text === undefined) return [stringsIn(block).join('\n')]
  const otherTexts = wordsIn({ messages: [{ ...block, text: undefined }] }, vendorFieldRoles)
  return [text, otherTexts.join('\n')]
}

const joinedFragmentsIn = ({ content }: Message): readonly string[] =>
  Array.isArray(content) ? joinedFragments(content.map((block) => plainTextOf(block) ?? '')) : []

function plainTextOf(block: object): string | undefined {
  const text: unknown = Reflect.get(block, 'text')
  return typeof text === 'string' ? text : undefined
}

function presentSimulation({ verdict, findings, plan }: Simulation): Static<typeof SimulateAnswer> {
  const { decision, effectiveDecision, deciding, decisions } = verdict
  const { config } = plan.gateway
  // Without a deciding check, the configuration's reason code for `allow` is reported.
  const { reasonCode } = deciding ?? decisions.find(({ check }) => check === 'gateway') ?? {}
  return {
    decision,
    reason_code: reasonCode ?? decision.toUpperCase(),
    triggered_categories: [...new Set(decisions.flatMap(({ triggeredCategories }) => triggeredCategories))],
    rollout_mode: plan.rollout.mode,
    policy_id: config.policy_id,
    effective_decision: effectiveDecision,
    enforced: deciding?.isEnforced ?? plan.rollout.isEnforced,
    allowlist_hits: [...findings.allowlistHits],
    denylist_hits: [...findings.denylistHits],
    redactions: config.rules.redact ? { ...findings.personalData } : {},
    scores: { ...findings.scores },
  }
}
