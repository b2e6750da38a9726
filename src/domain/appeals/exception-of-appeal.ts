/** The exception that an overturned appeal makes. */
import { Fault, isFault } from '../../base/fault.ts'
import { rowOf } from '../audit/chain/chained-event.ts'
import type { AuditReads, LoggedEvent } from '../audit/log.ts'
import type { ExceptionSubject } from '../exceptions/exception.ts'
import type { NewException } from '../exceptions/exceptions.ts'
import type { DeniedTexts, FindDeniedTexts } from '../explanation/denied-texts.ts'
import { findPolicy } from '../policy/mutations.ts'
import type { PolicyStore } from '../policy/store.ts'
import type { Appeal } from './appeal.ts'
import { findAppeal, type AppealStores } from './appeals.ts'

export const requestSubjects = ['user', 'key', 'project', 'text'] as const
export type RequestSubject = (typeof requestSubjects)[number]

/** What the policy lets through from now on, as the request of the appeal names it, and until when. */
export type AppealException = {
  readonly of: RequestSubject
  /** The texts of the request that the policy denies; only where the exception is for them. */
  readonly denied: DeniedTexts | undefined
  readonly reason: string | undefined
  readonly expiresAtMs: number
}

type Events = { readonly events: Pick<AuditReads, 'find' | 'findRequest'> }
type Stores = Events & Pick<AppealStores, 'appeals'> & { readonly policies: Pick<PolicyStore, 'find'> }

/** Finds the texts that the policy denies. Evaluating them can ask a judge, so it comes before the transaction. */
export async function deniedTextsOf(
  { appeals, events, policies }: Stores,
  at: Pick<Appeal, 'organizationId' | 'id'>,
  findDeniedTexts: FindDeniedTexts,
): Promise<DeniedTexts> {
  const { organizationId, requestId, policyId } = await findAppeal(appeals, at)
  const event = requestId === null ? undefined : await events.findRequest(organizationId, requestId)
  if (event === undefined) throw invalid('exception.for', 'the audit log no longer has the request.')
  const policy = await findPolicy(policies, organizationId, requirePolicy(policyId))
  return findDeniedTexts(event, policy, 'exception.for')
}

/** Only a denial that was wrong makes one. What was let through has nothing to be excepted from. */
export async function exceptionOfAppeal(
  { events }: Events,
  appeal: Appeal,
  { of, denied, reason, expiresAtMs, by, outcome }: AppealException & { readonly by: string; readonly outcome: string },
): Promise<{ readonly policyId: string; readonly input: NewException }> {
  const { id, organizationId, claim, eventId } = appeal
  if (outcome !== 'overturned' || claim !== 'should_be_allowed')
    throw invalid('exception', 'only a denial that is overturned can be followed by one.')
  const policyId = requirePolicy(appeal.policyId)
  const made = { reason: reason ?? `Appeal ${id}`, owner: by, createdBy: by, expiresAtMs }
  if (denied !== undefined) {
    const subject = { kind: 'text', digests: denied.digests } as const
    return { policyId, input: { ...made, subject, eventId, requestId: denied.requestId } }
  }
  const subject = subjectIn(await events.find(organizationId, eventId), of)
  return { policyId, input: { ...made, subject, eventId: null, requestId: null } }
}

function requirePolicy(policyId: string | null): string {
  if (policyId !== null) return policyId
  throw invalid('exception', 'the decision is not about a policy, and only policies have them.')
}

function subjectIn(event: LoggedEvent | undefined, kind: RequestSubject): ExceptionSubject {
  const { userId, actorId, projectId } = event === undefined ? noSubjects : rowOf(event.document, '')
  const id = { user: userId, key: actorId, project: projectId, text: null }[kind]
  if (id !== null && kind !== 'text') return { kind, id }
  throw invalid('exception.for', `the request names no ${kind}. Make the exception for something else that it names.`)
}

/** The exception is a part of the request, so its fields are named below `exception`. */
export function throwAboutException(error: unknown): never {
  if (!isFault(error) || error.details.param === undefined) throw error
  const { kind, code, message, details } = error
  throw new Fault(kind, code, `exception.${message}`, { ...details, param: `exception.${error.details.param}` })
}

const noSubjects = { userId: null, actorId: null, projectId: null }

const invalid = (param: string, problem: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${problem}`, { param })
