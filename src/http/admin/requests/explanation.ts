import type { Static } from 'typebox'
import { Fault } from '../../../base/fault.ts'
import type { AuditReads, LoggedEvent } from '../../../domain/audit/log.ts'
import type { CountAffected } from '../../../domain/explanation/also-affected.ts'
import { readEvaluatedRules, readUnevaluatedPolicies } from '../../../domain/explanation/evaluated-rules.ts'
import type { Explain } from '../../../domain/explanation/explain.ts'
import type { Explanation, NearestChange, OtherCheck } from '../../../domain/explanation/explanation.ts'
import type { SentTexts } from '../../../domain/explanation/rerun-texts.ts'
import type { GatewayStore } from '../../../domain/gateway-config/store.ts'
import { holds, requirePermission } from '../../../domain/identity/permissions.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'
import { presentEvidence, type ShownEvidence } from '../../resources/explanation.ts'
import { requestOf, type DecodeBody } from '../../resources/scenario.ts'
import type { ResourceActor } from '../../resources/spec.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminReads } from '../routes.ts'
import { ExplanationBody, ExplanationObject, ExplanationQuery, type ExplanationBodyOf } from './explanation-schema.ts'
import { RequestParams } from './schema.ts'

export type ExplanationReads = {
  readonly events: AuditReads
  readonly policies: PolicyStore
  readonly gateway: Pick<GatewayStore, 'findVersion'>
}

export type ExplanationParts = {
  readonly explain: Explain
  readonly countAffected: CountAffected
  readonly decodeBody: DecodeBody
}

const path = '/v1/organization/requests/{request_id}/explanation'

/** `/v1/organization/requests/{request_id}/explanation`: why a request was decided as it was. */
export function explanationRoutes({ read, query }: AdminReads<ExplanationReads>, parts: ExplanationParts): Route[] {
  return [
    read({
      name: 'explainRequest',
      path,
      summary: 'Explain a decision',
      description:
        'The rule that decided, what it acted on, and the smallest changes with which the request would have passed. Kept texts are evaluated again by the versions that decided. The judge model is not asked.',
      permission: 'audit:read',
      isReport: true,
      params: RequestParams,
      query: ExplanationQuery,
      answer: { description: 'The explanation.', schema: ExplanationObject },
      record: quoteRead,
      async operation(reads, { actor, params: { request_id: id }, query: { include } }) {
        if (include === 'content') requirePermission(actor.permissions, 'content:read')
        const event = await requestEvent(reads, actor, id)
        return explained(reads, { event, actor, hasQuotes: include === 'content' })
      },
    }),
    query({
      name: 'explainRequestWithText',
      path,
      summary: 'Explain a decision with a text',
      description:
        'The same for a text that is sent along, where texts are not kept. It may be another text than the one that was decided: `differs` says where it gets another verdict. Nothing is stored.',
      permission: 'audit:read',
      params: RequestParams,
      body: ExplanationBody,
      answer: { description: 'The explanation.', schema: ExplanationObject },
      async operation(reads, { actor, params: { request_id: id }, body }) {
        const sent = sentTexts(body, parts.decodeBody)
        const event = await requestEvent(reads, actor, id)
        return explained(reads, { event, actor, hasQuotes: true, sent })
      },
    }),
  ]

  async function explained(reads: ExplanationReads, { event, actor, hasQuotes, sent }: Explained) {
    const { document } = event
    const [rules, unevaluated] = await Promise.all([
      readEvaluatedRules(reads, document),
      readUnevaluatedPolicies(reads.policies, document),
    ])
    const explanation = await parts.explain({
      event,
      rules: { ...rules, unevaluated },
      sent,
      countAffected: parts.countAffected,
    })
    const hasRuleWords = holds(actor.permissions, 'policies:read')
    return presentExplanation(event, explanation, { hasQuotes, hasRuleWords })
  }
}

type Explained = {
  readonly event: LoggedEvent
  readonly actor: ResourceActor
  readonly hasQuotes: boolean
  readonly sent?: SentTexts
}

async function requestEvent({ events }: ExplanationReads, actor: ResourceActor, id: string): Promise<LoggedEvent> {
  const event = await events.findRequest(actor.organization.id, id)
  if (event) return event
  throw new Fault('not_found', 'not_found', `There is no request ${id} in the audit log.`)
}

function sentTexts(body: Static<typeof ExplanationBody>, decodeBody: DecodeBody): SentTexts {
  const { response, metadata = {}, ...scenario } = body
  const request = requestOf(scenario, decodeBody, '')
  if (request === undefined && (response === undefined || response === ''))
    throw invalidField(['messages'], 'is required, or text or response')
  return { request, response, metadata }
}

/** Who read which texts must be known. */
function quoteRead({ request_id: id, basis, evidence, nearest }: ExplanationBodyOf) {
  const hasQuotes = [...evidence, ...nearest].some(({ quote }) => quote !== null)
  if (basis !== 'rerun' || !hasQuotes) return undefined
  return { kind: 'audit.content.read' as const, resourceId: id, details: { level: 'quotes' } }
}

function presentExplanation(
  { document }: LoggedEvent,
  explanation: Explanation,
  shown: ShownEvidence,
): ExplanationBodyOf {
  const { deciding, versions } = explanation
  return {
    object: 'organization.request.explanation',
    request_id: document.metadata.correlation_uid ?? document.metadata.uid,
    event_id: document.metadata.uid,
    decision: explanation.decision,
    effective_decision: explanation.effectiveDecision,
    enforced: explanation.isEnforced,
    direction: explanation.direction,
    basis: explanation.basis,
    deciding: deciding && {
      check: deciding.check,
      policy: { ...deciding.policy },
      reason_code: deciding.reasonCode,
      score_bp: deciding.scoreBasisPoints,
      threshold_bp: deciding.thresholdBasisPoints,
      exception_id: deciding.exceptionId,
      rollout: { ...deciding.rollout },
    },
    versions: {
      gateway_config: versions.gatewayConfig,
      classifier: versions.classifier && { ...versions.classifier },
      judge: versions.judge,
      product: versions.product,
    },
    evidence: explanation.evidence.map((one) => presentEvidence(one, shown)),
    others: explanation.others.map(presentOther),
    nearest: explanation.nearest.map((change) => presentChange(change, shown)),
    differs: explanation.differs.map((difference) => ({ ...difference })),
    incomplete: [...explanation.incomplete],
  }
}

const presentOther = (other: OtherCheck): ExplanationBodyOf['others'][number] => ({
  check: other.check,
  policy_id: other.policyId,
  name: other.name,
  version: other.version,
  decision: other.decision,
  enforced: other.isEnforced,
  alone: other.alone,
  score_bp: other.scoreBasisPoints,
  threshold_bp: other.thresholdBasisPoints,
  exception_id: other.exceptionId,
})

const presentChange = (change: NearestChange, { hasQuotes }: ShownEvidence): ExplanationBodyOf['nearest'][number] => ({
  change: change.change,
  check: change.check,
  policy_id: change.policyId,
  threshold_bp: change.thresholdBasisPoints,
  part: change.part,
  start: change.start,
  end: change.end,
  quote: hasQuotes ? change.quote : null,
  effect: change.effect,
  verified: change.isVerified,
  also_affects: change.alsoAffects && {
    requests: change.alsoAffects.requests,
    checked: change.alsoAffects.checked,
    is_complete: change.alsoAffects.isComplete,
  },
})
