import { toUnixSeconds, type Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { AppealStore } from '../../domain/appeals/appeal.ts'
import { decidedRequestOf, type DecidedRequest } from '../../domain/appeals/decided-request.ts'
import type { ChainedDocument } from '../../domain/audit/event/document.ts'
import type { AuditReads, LoggedEvent } from '../../domain/audit/log.ts'
import { readEvaluatedRules, readUnevaluatedPolicies } from '../../domain/explanation/evaluated-rules.ts'
import type { Explain } from '../../domain/explanation/explain.ts'
import { decidingOf } from '../../domain/explanation/recorded-facts.ts'
import { decisionIn, recordedOutcomes, type EvaluatedRules } from '../../domain/explanation/recorded-outcomes.ts'
import { recordedEffect } from '../../domain/explanation/recorded-verdict.ts'
import type { GatewayStore } from '../../domain/gateway-config/store.ts'
import type { PolicyStore } from '../../domain/policy/store.ts'
import { presentEvidence } from '../resources/explanation.ts'
import { presentNoAppeal, presentOpenedAppeal, type CallerLevel, type DecisionBody } from './schema.ts'

export type DecisionParts = {
  /** What a caller learns at most. */
  readonly toCallers: CallerLevel
  readonly explain: Explain
  readonly events: Pick<AuditReads, 'find' | 'findRequest'>
  readonly appeals: Pick<AppealStore, 'findByEvent'>
  readonly clock: Clock
  readonly rules: { readonly policies: PolicyStore; readonly gateway: Pick<GatewayStore, 'findVersion'> }
}

/** A decision to read. Without a project, of any project of the organization. */
type DecisionAt = { readonly organizationId: string; readonly projectId?: string; readonly eventId: string }

export type ReadDecision = (
  at: DecisionAt,
) => Promise<{ readonly request: DecidedRequest; readonly body: DecisionBody }>

/** Reads a decision as its caller may see it. */
export function createReadDecision(parts: DecisionParts): ReadDecision {
  return async (at) => {
    const { event, request } = await findDecision(at)
    const known = await parts.appeals.findByEvent(at.organizationId, at.eventId)
    const nowMs = parts.clock.nowMs()
    const appeal = known === undefined ? presentNoAppeal(request, nowMs) : presentOpenedAppeal(known, nowMs)
    return { request, body: await present(event, request, appeal) }
  }

  /** An event of another project is as unknown as one that does not exist. */
  async function findDecision({ organizationId, projectId, eventId }: DecisionAt) {
    const event = await parts.events.find(organizationId, eventId)
    const request = event && decidedRequestOf(event)
    if (event !== undefined && request !== undefined && (projectId ?? request.projectId) === request.projectId)
      return { event, request }
    throw new Fault('not_found', 'not_found', `There is no decision ${eventId} on a request of this project.`)
  }

  async function present(
    event: LoggedEvent,
    { eventId, requestId, decidedAtMs, direction }: DecidedRequest,
    appeal: DecisionBody['appeal'],
  ): Promise<DecisionBody> {
    const { document } = event
    const deciding = decidingOf(document, noRules)
    const level = deciding?.check === 'always_blocked' ? 'code' : parts.toCallers
    return {
      object: 'decision',
      event_id: eventId,
      request_id: requestId,
      created_at: toUnixSeconds(decidedAtMs),
      decision: decisionIn(document.unmapped.gatehouse['decision']),
      effective_decision: recordedEffect(document),
      enforced: document.unmapped.gatehouse['is_enforced'] !== false,
      direction,
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
      exceptions: level === 'code' ? [] : exceptionsOf(document),
      evidence: level === 'evidence' ? await evidenceOf(event, requestId) : [],
      appeal,
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

/** What an event itself says, without the rules of then. */
const noRules: EvaluatedRules = { policies: new Map(), gateway: undefined }

const exceptionsOf = (document: ChainedDocument): DecisionBody['exceptions'] =>
  recordedOutcomes(document, noRules).flatMap(({ exceptionId, policyId }) =>
    exceptionId === null ? [] : [{ exception_id: exceptionId, policy_id: policyId }],
  )
