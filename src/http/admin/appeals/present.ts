import { toUnixSeconds } from '../../../base/clock.ts'
import type { Appeal, AppealStore } from '../../../domain/appeals/appeal.ts'
import { disputedText } from '../../../domain/appeals/case-of-appeal.ts'
import { agreedAnswer, needsAnotherPerson, type Label } from '../../../domain/appeals/label.ts'
import { stateAt } from '../../../domain/appeals/open-appeal.ts'
import type { AuditReads, LoggedEvent } from '../../../domain/audit/log.ts'
import { readEvaluatedRules } from '../../../domain/explanation/evaluated-rules.ts'
import { decidingOf } from '../../../domain/explanation/recorded-facts.ts'
import { decisionIn } from '../../../domain/explanation/recorded-outcomes.ts'
import { recordedEffect } from '../../../domain/explanation/recorded-verdict.ts'
import type { GatewayStore } from '../../../domain/gateway-config/store.ts'
import { holds } from '../../../domain/identity/permissions.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'
import type { AppealBody } from './schema.ts'

export type AppealReads = {
  readonly appeals: AppealStore
  readonly events: Pick<AuditReads, 'find' | 'findRequest' | 'list'>
  readonly policies: PolicyStore
  readonly gateway: Pick<GatewayStore, 'findVersion'>
}

type Shown = {
  readonly actor: Pick<Administrator, 'id' | 'permissions'>
  readonly nowMs: number
  /** Whether the decision of an open appeal is left out until the reader has labelled it. */
  readonly isBlind: boolean
  /** `none`: in lists, which look for no text. */
  readonly texts: 'none' | 'known' | 'shown'
  readonly draftRevision?: number | null
  readonly exceptionId?: string | null
}

/** An appeal as its reader may see it. Who reviews it must not know the decision before. */
export async function presentAppeal(reads: AppealReads, appeal: Appeal, shown: Shown): Promise<AppealBody> {
  const { actor, nowMs, texts } = shown
  const { organizationId, requestId, direction } = appeal
  const state = stateAt(appeal, nowMs)
  const labels = await reads.appeals.labels(organizationId, appeal.id)
  const isLabelled = labels.some(({ labelledBy }) => labelledBy === actor.id)
  const isBlind = shown.isBlind && state === 'open' && !isLabelled
  const kept =
    texts === 'none' || requestId === null ? undefined : await reads.events.findRequest(organizationId, requestId)
  const disputed = kept && disputedText(kept, direction)
  return {
    id: appeal.id,
    object: 'organization.appeal',
    state,
    event_id: appeal.eventId,
    request_id: requestId,
    project_id: appeal.projectId,
    policy: await presentPolicy(reads.policies, appeal, holds(actor.permissions, 'policies:read')),
    direction,
    text: texts === 'shown' ? (disputed ?? null) : null,
    is_text_kept: texts === 'none' ? null : disputed !== undefined,
    may_review: state === 'open' && !isLabelled && appeal.openedBy !== actor.id,
    needs_third: needsAnotherPerson(labels),
    blind: isBlind,
    ...(isBlind ? hidden : await presentVerdict(reads, { appeal, labels, actor })),
    opened_at: toUnixSeconds(appeal.openedAtMs),
    expires_at: toUnixSeconds(appeal.expiresAtMs),
    closed_at: closedAt(appeal, state),
    closed_by: appeal.closedBy,
    reason: appeal.reason,
    case_id: appeal.caseId,
    draft_revision: shown.draftRevision ?? null,
    exception_id: shown.exceptionId ?? null,
  }
}

/** One that has expired is closed at its end, also before the job has recorded it. */
function closedAt({ closedAtMs, expiresAtMs }: Appeal, state: AppealBody['state']): number | null {
  if (state === 'open') return null
  return toUnixSeconds(closedAtMs ?? expiresAtMs)
}

const hidden = { claim: null, origin: null, opened_by: null, note: null, decision: null, labels: [], agreed: null }

type Verdict = { readonly appeal: Appeal; readonly labels: readonly Label[] } & Pick<Shown, 'actor'>

async function presentVerdict(reads: AppealReads, { appeal, labels, actor }: Verdict) {
  const mayReadTexts = holds(actor.permissions, 'content:read')
  const event = await reads.events.find(appeal.organizationId, appeal.eventId)
  return {
    claim: appeal.claim,
    origin: appeal.origin,
    opened_by: appeal.openedBy,
    note: mayReadTexts ? appeal.note : null,
    decision: event === undefined ? null : await presentDecision(reads, event),
    labels: labels.map((label) => presentLabel(label, mayReadTexts)),
    agreed: agreedAnswer(labels) ?? null,
  }
}

export const presentLabel = (label: Label, mayReadTexts: boolean) => ({
  id: label.id,
  should: label.should,
  blind: label.isBlind,
  note: mayReadTexts ? label.note : null,
  labelled_by: label.labelledBy,
  labelled_at: toUnixSeconds(label.labelledAtMs),
})

async function presentDecision(reads: AppealReads, { document }: LoggedEvent): Promise<AppealBody['decision']> {
  const deciding = decidingOf(document, await readEvaluatedRules(reads, document))
  return {
    decision: decisionIn(document.unmapped.gatehouse['decision']),
    effective_decision: recordedEffect(document),
    enforced: document.unmapped.gatehouse['is_enforced'] !== false,
    check: deciding?.check ?? null,
    reason_code: deciding?.reasonCode ?? null,
    score_bp: deciding?.scoreBasisPoints ?? null,
    threshold_bp: deciding?.thresholdBasisPoints ?? null,
  }
}

/** The rule of the version that decided; of another policy the current one. */
async function presentPolicy(
  policies: PolicyStore,
  { organizationId, policyId, policyVersion }: Appeal,
  mayReadRules: boolean,
): Promise<AppealBody['policy']> {
  if (policyId === null) return null
  const policy = await policies.find(organizationId, policyId)
  const decided =
    policyVersion === null ? policy?.published : policy && (await policies.findVersion(policy, policyVersion))
  const rule = policyVersion === null ? (decided ?? policy?.draft)?.rule : decided?.rule
  return {
    id: policyId,
    name: policy?.name ?? null,
    version: policyVersion,
    rule: mayReadRules ? (rule ?? null) : null,
  }
}

/** The appeal after a change, with the audit records of the change. */
export async function presentChanged<Rest>(
  reads: AppealReads,
  { value, ...rest }: Rest & { readonly value: Appeal },
  shown: Pick<Shown, 'actor' | 'nowMs' | 'draftRevision' | 'exceptionId'>,
) {
  return { ...rest, value: await presentAppeal(reads, value, { ...shown, isBlind: true, texts: 'known' }) }
}

export const appealAt = (
  actor: { readonly organization: { readonly id: string } },
  params: { readonly appeal_id: string },
) => ({ organizationId: actor.organization.id, id: params.appeal_id })
