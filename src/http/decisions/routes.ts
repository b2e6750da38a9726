import Type, { type Static } from 'typebox'
import { toUnixSeconds } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { rowOf } from '../../domain/audit/chain/chained-event.ts'
import { checks, decisions } from '../../domain/audit/event/verdict.ts'
import type { AuditReads, LoggedEvent } from '../../domain/audit/log.ts'
import { readEvaluatedRules, readUnevaluatedPolicies } from '../../domain/explanation/evaluated-rules.ts'
import type { Explain } from '../../domain/explanation/explain.ts'
import { decidingOf } from '../../domain/explanation/recorded-facts.ts'
import { decisionIn, directionOf } from '../../domain/explanation/recorded-outcomes.ts'
import { recordedEffect } from '../../domain/explanation/recorded-verdict.ts'
import type { GatewayStore } from '../../domain/gateway-config/store.ts'
import type { Principal } from '../../domain/identity/principal.ts'
import type { PolicyStore } from '../../domain/policy/store.ts'
import type { AdmitRead } from '../../pipeline/billing/read-limit.ts'
import type { CallerOf } from '../caller.ts'
import { flag, text } from '../described.ts'
import { EvidenceObject, evidenceExample, presentEvidence } from '../resources/explanation.ts'
import { idText, orNull, unixTime } from '../resources/fields.ts'
import type { Route } from '../route.ts'
import { createQueryValidator } from '../validate.ts'

const callerLevels = ['code', 'policy', 'evidence'] as const
type Level = (typeof callerLevels)[number]

export type DecisionRouteParts = {
  readonly callerOf: Pick<CallerOf, 'principal'>
  readonly decisions: {
    readonly admit: AdmitRead
    /** What a caller learns at most. */
    readonly toCallers: Level
    readonly explain: Explain
    readonly events: Pick<AuditReads, 'find' | 'findRequest'>
    readonly rules: { readonly policies: PolicyStore; readonly gateway: Pick<GatewayStore, 'findVersion'> }
  }
}

const DecisionParams = Type.Object({
  event_id: idText('The `event_id` of the `policy` object in a response.', 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8'),
})

const DecidingRule = Type.Object(
  {
    check: Type.Enum([...checks], { description: 'The check that decided.' }),
    policy_id: orNull(Type.String(), 'The policy, or the `policy_id` of the gateway configuration.'),
    name: orNull(Type.String(), 'Its name at that time.'),
    version: orNull(Type.Integer(), 'Its version.'),
  },
  { title: 'DecidingRule' },
)

const DecisionObject = Type.Object(
  {
    object: Type.Literal('decision'),
    event_id: text('The event of the request in the audit log.'),
    request_id: orNull(Type.String(), 'The request.'),
    created_at: unixTime('When the request was received.'),
    decision: Type.Enum([...decisions], { description: 'The decision of the checks.' }),
    effective_decision: Type.Enum([...decisions], { description: 'What happened to the request or response.' }),
    enforced: flag('False: the decision was recorded and not applied.'),
    direction: orNull(
      Type.Enum(['request', 'response']),
      'What the decision is about; null if the request was rejected before the checks.',
    ),
    reason_code: orNull(Type.String(), 'The reason code of the decision.'),
    level: Type.Enum([...callerLevels], {
      description:
        'How much is told: `explanations.to_callers` of the configuration, and `code` for categories that are always blocked.',
    }),
    deciding: orNull(DecidingRule, 'The rule, from the level `policy`; null if every check allowed it.'),
    evidence: Type.Array(EvidenceObject, {
      description: 'What the checks acted on, at the level `evidence`. It has no words of the text.',
    }),
  },
  {
    title: 'Decision',
    examples: [
      {
        object: 'decision',
        event_id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
        request_id: 'req_01k9z8y7x6w5v4t3s2r1q0p9n8',
        created_at: 1_767_225_600,
        decision: 'refuse',
        effective_decision: 'refuse',
        enforced: true,
        direction: 'request',
        reason_code: 'REFUSE',
        level: 'evidence',
        deciding: {
          check: 'policy',
          policy_id: 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8',
          name: 'No code names',
          version: 3,
        },
        evidence: [evidenceExample],
      },
    ],
  },
)

/** `/v1/decisions`: what a caller learns about a decision on a request of its project. */
export function decisionRoutes({ callerOf, decisions: parts }: DecisionRouteParts): Route[] {
  const readParams = createQueryValidator(DecisionParams)
  return [
    {
      name: 'getDecision',
      method: 'GET',
      path: '/v1/decisions/{event_id}',
      summary: 'Explain a decision to its caller',
      description:
        'Why a request of the key’s project was decided as it was, as far as the configuration `explanations.to_callers` allows. Ten reads a minute for a key.',
      credential: 'api_key',
      params: DecisionParams,
      answers: { 200: { description: 'The decision.', schema: DecisionObject } },
      errorStatuses: [401, 403, 404, 422, 429, 500, 503],
      async handle(request) {
        const principal = await callerOf.principal(request)
        const { event_id: id } = readParams(request.params)
        await parts.admit(principal)
        return presentDecision(await findDecision(principal, id))
      },
    },
  ]

  /** An event of another project is as unknown as one that does not exist. */
  async function findDecision({ organization, projectId }: Principal, id: string): Promise<LoggedEvent> {
    const event = await parts.events.find(organization.id, id)
    const row = event && rowOf(event.document, '')
    if (event !== undefined && row?.code === 'gateway.request.decided' && row.projectId === projectId) return event
    throw new Fault('not_found', 'not_found', `There is no decision ${id} on a request of this project.`)
  }

  async function presentDecision(event: LoggedEvent): Promise<Static<typeof DecisionObject>> {
    const { document } = event
    const { id, requestId, timeMs } = rowOf(document, '')
    const deciding = decidingOf(document, { policies: new Map(), gateway: undefined })
    const level = deciding?.check === 'always_blocked' ? 'code' : parts.toCallers
    return {
      object: 'decision',
      event_id: id,
      request_id: requestId,
      created_at: toUnixSeconds(timeMs),
      decision: decisionIn(document.unmapped.gatehouse['decision']),
      effective_decision: recordedEffect(document),
      enforced: document.unmapped.gatehouse['is_enforced'] !== false,
      direction: directionOf(document),
      reason_code: deciding?.reasonCode ?? null,
      level,
      deciding:
        level === 'code' || deciding === null
          ? null
          : {
              check: deciding.check,
              policy_id: deciding.policy.id,
              name: deciding.policy.name,
              version: deciding.policy.version,
            },
      evidence: level === 'evidence' ? await evidenceOf(event, requestId) : [],
    }
  }

  async function evidenceOf(event: LoggedEvent, requestId: string | null) {
    const { document } = event
    const { rules, events, explain } = parts
    const kept = requestId === null ? undefined : await events.findRequest(document.metadata.tenant_uid, requestId)
    const [evaluated, unevaluated] = await Promise.all([
      readEvaluatedRules(rules, document),
      readUnevaluatedPolicies(rules.policies, document),
    ])
    const { evidence } = await explain({
      event: { ...event, content: kept?.content },
      rules: { ...evaluated, unevaluated },
      skipsChanges: true,
    })
    const shown = evidence.filter(({ check }) => check !== 'always_blocked')
    return shown.map((one) => presentEvidence(one, { hasQuotes: false, hasRuleWords: true }))
  }
}
