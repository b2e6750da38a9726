import { hourMs, type Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { AuditReads } from '../audit/log.ts'
import type { AuditRecord, WithAuditRecord } from '../mutations/audit-log.ts'
import type { Appeal, AppealOrigin, AppealStore } from './appeal.ts'
import { appealMs, appealProblem, decidedRequestOf, type DecidedRequest } from './decided-request.ts'
import { requireOpen, requireReviewer } from './open-appeal.ts'
import type { Label, LabelAnswer } from './label.ts'

/** Appeals that a key may open in an hour. */
const maxPerHour = 20

export type AppealStores = {
  readonly appeals: AppealStore
  readonly events: Pick<AuditReads, 'find' | 'list'>
}

/** What a caller appeals: a decision on a request of its project. */
type CallerAppeal = {
  readonly organizationId: string
  readonly eventId: string
  readonly note: string
  /** The project of the key; undefined for a person with the address. */
  readonly projectId: string | undefined
  /** The key; null for a person with the address. */
  readonly openedBy: string | null
}

type AdministratorAppeal = Pick<Appeal, 'organizationId' | 'eventId' | 'claim'> & {
  readonly note: string
  readonly openedBy: string
  /** The policy that should have decided. Without it, the one that did. */
  readonly policyId: string | undefined
  /** The disputed text. Without it, the one that was decided. */
  readonly direction: Appeal['direction'] | undefined
}

type JudgesAppeal = Pick<Appeal, 'organizationId' | 'eventId' | 'claim' | 'direction'> & { readonly policyId: string }

/** What a reviewer says before the decision is shown. */
export type Review = { readonly by: string; readonly should: LabelAnswer; readonly note: string | null }

export type Appeals = ReturnType<typeof createAppeals>

/** Opens, labels and expires appeals. Audit records have no note. */
export function createAppeals({ ids, clock }: { readonly ids: Ids; readonly clock: Clock }) {
  return {
    async openByCaller(stores: AppealStores, input: CallerAppeal): Promise<WithAuditRecord<Appeal>> {
      const { organizationId, eventId, projectId, openedBy, note } = input
      await stores.appeals.lock(organizationId)
      const request = await findDecided(stores, organizationId, eventId)
      if (request === undefined || (projectId !== undefined && request.projectId !== projectId))
        throw new Fault('not_found', 'not_found', `There is no decision ${eventId} on a request of this project.`)
      await requireFirst(stores.appeals, organizationId, eventId)
      const problem = appealProblem(request, clock.nowMs())
      if (problem !== undefined) throw new Fault('conflict', 'not_appealable', `${problem} It cannot be appealed.`)
      if (openedBy !== null) await requireFewer(stores.appeals, organizationId, openedBy)
      const origin = openedBy === null ? 'person' : 'caller'
      return insert(
        stores.appeals,
        appealOf(request, { organizationId, note, openedBy, origin, claim: 'should_be_allowed' }),
      )
    },

    /** Of any request, also one that every check allowed. The caller has found the policy. */
    async openByAdministrator(stores: AppealStores, input: AdministratorAppeal): Promise<WithAuditRecord<Appeal>> {
      const { eventId, policyId, direction, ...own } = input
      const { organizationId } = own
      await stores.appeals.lock(organizationId)
      const request = await findDecided(stores, organizationId, eventId)
      if (request === undefined)
        throw invalid('event_id', `there is no decision ${eventId} in the audit log. Take the event_id of a request.`)
      if (request.direction === null)
        throw invalid('event_id', 'the request was rejected before the checks, so there is no decision to appeal.')
      await requireFirst(stores.appeals, organizationId, eventId)
      const isOther = policyId !== undefined && policyId !== request.policyId
      const about = {
        ...request,
        ...(isOther && { policyId, policyVersion: null }),
        ...(direction !== undefined && { direction }),
      }
      return insert(stores.appeals, appealOf(about, { ...own, origin: 'administrator' }))
    },

    /** About a text on which two judges differ. The caller has read the event. Undefined if there is such an appeal. */
    async openByJudges(stores: AppealStores, input: JudgesAppeal): Promise<WithAuditRecord<Appeal | undefined>> {
      const { organizationId, eventId, policyId, direction, claim } = input
      const request = await findDecided(stores, organizationId, eventId)
      if (request === undefined) return { value: undefined }
      const policyVersion = request.policyId === policyId ? request.policyVersion : null
      const own = { organizationId, claim, note: null, openedBy: null, origin: 'judge' } as const
      const appeal = appealOf({ ...request, policyId, policyVersion, direction }, own)
      return (await stores.appeals.insert(appeal)) ? withRecord(appeal) : { value: undefined }
    },

    /** Each person says once what they think, before they see the decision. */
    async review(
      stores: AppealStores,
      at: Pick<Appeal, 'organizationId' | 'id'>,
      { by, should, note }: Review,
    ): Promise<WithAuditRecord<Appeal>> {
      await stores.appeals.lock(at.organizationId)
      const appeal = await findAppeal(stores.appeals, at)
      requireOpen(appeal, clock.nowMs())
      requireReviewer(appeal, by)
      const { organizationId, id: appealId, eventId, requestId, policyId } = appeal
      const isBlind = !(await hasSeenDecision(stores.events, appeal, by))
      const own = { should, note, isBlind, labelledBy: by, labelledAtMs: clock.nowMs(), caseId: null }
      const label: Label = { id: ids('lbl'), organizationId, appealId, eventId, requestId, policyId, ...own }
      if (!(await stores.appeals.insertLabel(label))) {
        const message = `${by} has labelled the appeal ${appealId} before. A label is not changed after the decision was shown.`
        throw new Fault('conflict', 'invalid_state', message)
      }
      const details = { event_id: eventId, policy_id: policyId, label_id: label.id, should, blind: isBlind }
      return { value: appeal, record: { kind: 'appeal.labelled', resourceId: appealId, details } }
    },

    /** Closes an appeal whose time is over. Without a record, it was closed before. */
    async expire(
      { appeals }: Pick<AppealStores, 'appeals'>,
      at: Pick<Appeal, 'organizationId' | 'id'>,
    ): Promise<WithAuditRecord<void>> {
      const appeal = await findAppeal(appeals, at)
      const closed: Appeal = { ...appeal, state: 'expired', closedAtMs: appeal.expiresAtMs }
      const isDue = appeal.state === 'open' && clock.nowMs() >= appeal.expiresAtMs
      if (!isDue || !(await appeals.close(closed))) return { value: undefined }
      return { value: undefined, record: closingRecord(closed, 'expired') }
    },
  }

  function appealOf(
    request: DecidedRequest,
    own: Pick<Appeal, 'organizationId' | 'note' | 'openedBy' | 'claim'> & { readonly origin: AppealOrigin },
  ): Appeal {
    const { eventId, requestId, projectId, policyId, policyVersion, check, direction } = request
    const nowMs = clock.nowMs()
    const open = { state: 'open', reason: null, caseId: null, closedAtMs: null, closedBy: null } as const
    const about = { eventId, requestId, projectId, policyId, policyVersion, check, direction: direction ?? 'request' }
    return { id: ids('apl'), ...own, ...about, ...open, openedAtMs: nowMs, expiresAtMs: nowMs + appealMs }
  }

  /** Throws if the key has opened as many in the last hour as it may. */
  async function requireFewer(appeals: AppealStore, organizationId: string, openedBy: string): Promise<void> {
    const nowMs = clock.nowMs()
    const opened = await appeals.openedSince(organizationId, openedBy, nowMs - hourMs)
    const oldestCounted = opened.at(-maxPerHour)
    if (oldestCounted === undefined) return
    const retryAfterSeconds = Math.max(1, Math.ceil((oldestCounted + hourMs - nowMs) / 1000))
    const message = `This key may open ${maxPerHour} appeals an hour. Retry in ${retryAfterSeconds} s.`
    throw new Fault('rate_limit', 'rate_limit_exceeded', message, { retryAfterSeconds })
  }
}

async function findDecided(
  { events }: AppealStores,
  organizationId: string,
  eventId: string,
): Promise<DecidedRequest | undefined> {
  const event = await events.find(organizationId, eventId)
  return event && decidedRequestOf(event)
}

async function requireFirst(appeals: AppealStore, organizationId: string, eventId: string): Promise<void> {
  const known = await appeals.findByEvent(organizationId, eventId)
  if (known) throw alreadyAppealed(known)
}

async function insert(appeals: AppealStore, appeal: Appeal): Promise<WithAuditRecord<Appeal>> {
  if (!(await appeals.insert(appeal))) throw alreadyAppealed(appeal)
  return withRecord(appeal)
}

function withRecord(appeal: Appeal): WithAuditRecord<Appeal> {
  const { id, eventId, policyId, projectId, claim, origin } = appeal
  const details = { event_id: eventId, policy_id: policyId, claim, origin }
  const record: AuditRecord = {
    kind: 'appeal.opened',
    resourceId: id,
    details,
    ...(projectId !== null && { projectId }),
  }
  return { value: appeal, record }
}

const alreadyAppealed = ({ eventId }: Appeal): Fault =>
  new Fault('conflict', 'already_appealed', `There is an appeal against the decision ${eventId} already.`)

export async function findAppeal(
  appeals: Pick<AppealStore, 'find'>,
  { organizationId, id }: Pick<Appeal, 'organizationId' | 'id'>,
): Promise<Appeal> {
  const appeal = await appeals.find(organizationId, id)
  if (appeal) return appeal
  throw new Fault('not_found', 'not_found', `There is no appeal ${id}.`)
}

/** The audit log has who read the decision of an open appeal. */
async function hasSeenDecision(
  events: Pick<AuditReads, 'list'>,
  { organizationId, id, openedAtMs }: Appeal,
  by: string,
) {
  const shown = { code: 'admin.appeal.revealed', resourceId: id, fromMs: openedAtMs }
  const { items } = await events.list(organizationId, shown, { limit: 100, order: 'desc' })
  return items.some(({ document }) => (document.actor.session?.credential_uid ?? 'operator') === by)
}

/** The record of a transition to a final state. */
export function closingRecord(appeal: Appeal, state: Exclude<Appeal['state'], 'open'>): AuditRecord {
  const { id, eventId, policyId, projectId, claim, check, caseId } = appeal
  const details = { event_id: eventId, policy_id: policyId, check, claim, state, case_id: caseId }
  return { kind: `appeal.${state}`, resourceId: id, details, ...(projectId !== null && { projectId }) }
}

const invalid = (param: string, problem: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${problem}`, { param })
