import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { AuditReads } from '../audit/log.ts'
import { maxCaseBytes, type Cases, type CaseStores } from '../cases/cases.ts'
import type { CaseWeight } from '../cases/case.ts'
import type { Exceptions, ExceptionStores } from '../exceptions/exceptions.ts'
import type { AuditRecord, WithAuditRecord } from '../mutations/audit-log.ts'
import type { PolicyPatch } from '../policy/lifecycle.ts'
import type { PolicyAdministration } from '../policy/mutations.ts'
import type { PolicyStore } from '../policy/store.ts'
import type { Appeal, AppealOutcome } from './appeal.ts'
import { closingRecord, findAppeal, type AppealStores } from './appeals.ts'
import { caseInputOf } from './case-of-appeal.ts'
import { exceptionOfAppeal, throwAboutException, type AppealException } from './exception-of-appeal.ts'
import { agreedAnswer, needsAnotherPerson, type Label } from './label.ts'
import { requireOpen, requireReviewer } from './open-appeal.ts'
import { outcomeOf } from './outcome.ts'

export type ResolveStores = Pick<AppealStores, 'appeals'> &
  CaseStores &
  ExceptionStores & { readonly policies: PolicyStore; readonly events: Pick<AuditReads, 'find' | 'findRequest'> }

/** How an appeal is closed, and what follows from it. */
export type Resolution = {
  readonly by: string
  readonly outcome: AppealOutcome
  readonly reason: string | null
  /** The case that the text becomes; undefined for none. */
  readonly newCase: { readonly says: string | undefined; readonly weight: CaseWeight } | undefined
  /** The change of the draft, and the revision of the policy that the caller has read. */
  readonly draft: { readonly patch: PolicyPatch; readonly revision: number } | undefined
  readonly exception: AppealException | undefined
}

export type Resolved = {
  readonly appeal: Appeal
  readonly draftRevision: number | null
  readonly exceptionId: string | null
}

type ResolveParts = {
  readonly clock: Clock
  readonly cases: Pick<Cases, 'create'>
  readonly policies: Pick<PolicyAdministration, 'update'>
  readonly exceptions: Pick<Exceptions, 'create'>
}

export type ResolveAppeal = ReturnType<typeof createResolveAppeal>

/** Closes an appeal as the labels say. What follows from it is made in the same transaction, or none of it is. */
export function createResolveAppeal({ clock, cases, policies, exceptions }: ResolveParts) {
  return async (
    stores: ResolveStores,
    at: Pick<Appeal, 'organizationId' | 'id'>,
    resolution: Resolution,
  ): Promise<WithAuditRecord<Resolved>> => {
    const { by, outcome, reason } = resolution
    await stores.appeals.lock(at.organizationId)
    const appeal = await findAppeal(stores.appeals, at)
    requireOpen(appeal, clock.nowMs())
    requireReviewer(appeal, by)
    const labels = await stores.appeals.labels(appeal.organizationId, appeal.id)
    if (outcome !== 'dismissed') requireAgreement(appeal, labels, outcome)
    const created = resolution.newCase && (await createCase(stores, { appeal, labels, by, ...resolution.newCase }))
    const changed = resolution.draft && (await changeDraft(stores, appeal, resolution.draft))
    const excepted =
      resolution.exception && (await makeException(stores, appeal, { ...resolution.exception, by, outcome }))
    const ending = { closedAtMs: clock.nowMs(), closedBy: by, reason, caseId: created?.value.id ?? null }
    const closed: Appeal = { ...appeal, ...ending, state: outcome }
    if (!(await stores.appeals.close(closed)))
      throw new Fault('conflict', 'invalid_state', `The appeal ${appeal.id} was closed meanwhile.`)
    const further = [created, changed, excepted].flatMap((made): AuditRecord[] => (made?.record ? [made.record] : []))
    return {
      value: {
        appeal: closed,
        draftRevision: changed?.value.revision ?? null,
        exceptionId: excepted?.value.id ?? null,
      },
      record: closingRecord(closed, outcome),
      further,
    }
  }

  async function createCase(stores: ResolveStores, input: CaseOfAppeal) {
    const { appeal, labels, by, says = `appeal ${appeal.id}`, weight } = input
    const { organizationId, policyId, eventId, requestId, direction } = appeal
    const expected = agreedAnswer(labels)
    if (policyId === null)
      throw invalid('case', 'the decision is not about a policy, so there is none that the case could belong to.')
    if (expected === undefined)
      throw invalid('case', 'nobody has said for sure whether the rule should match. Label the appeal first.')
    const event = requestId === null ? undefined : await stores.events.findRequest(organizationId, requestId)
    const given = event && caseInputOf(event, direction)
    if (given === undefined)
      throw invalid('case', 'the text of the request is not kept (audit.content), or was erased. Write a case by hand.')
    if (Buffer.byteLength(JSON.stringify(given)) > maxCaseBytes)
      throw invalid('case', `the text is longer than ${maxCaseBytes} bytes of JSON. Write a shorter case by hand.`)
    const own = { says, given, expected, weight, eventId, tags: ['appeal'], labelledBy: by }
    return cases.create(stores, { organizationId, policyId }, { ...own, origin: 'appeal' })
  }

  async function changeDraft(
    stores: ResolveStores,
    { organizationId, policyId }: Appeal,
    { patch, revision }: NonNullable<Resolution['draft']>,
  ) {
    if (policyId === null)
      throw invalid('draft', 'the decision is not about a policy, so there is no draft that could be changed.')
    return policies.update(stores.policies, { organizationId, id: policyId, revision }, patch)
  }

  async function makeException(
    stores: ResolveStores,
    appeal: Appeal,
    exception: AppealException & Pick<Resolution, 'by' | 'outcome'>,
  ) {
    const { policyId, input } = await exceptionOfAppeal(stores, appeal, exception)
    const owner = { organizationId: appeal.organizationId, policyId }
    return exceptions.create(stores, owner, input).catch(throwAboutException)
  }
}

type CaseOfAppeal = NonNullable<Resolution['newCase']> & {
  readonly appeal: Appeal
  readonly labels: readonly Label[]
  readonly by: string
}

/** The outcome repeats what people have agreed on, so that nobody closes an appeal against the labels. */
function requireAgreement(
  { id, claim }: Appeal,
  labels: readonly Label[],
  outcome: Exclude<AppealOutcome, 'dismissed'>,
): void {
  const answer = agreedAnswer(labels)
  if (answer === undefined) {
    const missing = needsAnotherPerson(labels)
      ? 'Two people disagree about it: a third person has to label it'
      : 'Nobody has said for sure whether the rule should match: label it first'
    throw new Fault('conflict', 'labels_disagree', `The appeal ${id} is not decided. ${missing}, or dismiss it.`)
  }
  const agreed = outcomeOf(claim, answer)
  if (agreed === outcome) return
  const message = `By its labels (${answer}) the appeal ${id} is ${agreed}, not ${outcome}. Ask a person who thinks otherwise to label it.`
  throw new Fault('conflict', 'labels_disagree', message, { param: 'outcome' })
}

const invalid = (param: string, problem: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${problem}`, { param })
