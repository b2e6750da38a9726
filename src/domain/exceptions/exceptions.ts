import { dayMs, type Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { AuditRecord, WithAuditRecord } from '../mutations/audit-log.ts'
import { findPolicy } from '../policy/mutations.ts'
import type { PolicyStore } from '../policy/store.ts'
import { stateOf, type ExceptionOwner, type ExceptionStore, type PolicyException } from './exception.ts'

const maxDays = 30
/** Live ones of one policy. More of them are a policy that should be changed. */
const maxLive = 100

export type ExceptionStores = {
  readonly policies: Pick<PolicyStore, 'find'>
  readonly exceptions: ExceptionStore
}

export type NewException = Pick<
  PolicyException,
  'subject' | 'reason' | 'owner' | 'eventId' | 'requestId' | 'createdBy' | 'expiresAtMs'
>

export type Exceptions = ReturnType<typeof createExceptions>

/** Creates and ends exceptions of policies. */
export function createExceptions({ ids, clock }: { readonly ids: Ids; readonly clock: Clock }) {
  return {
    async create(
      stores: ExceptionStores,
      owner: ExceptionOwner,
      input: NewException,
    ): Promise<WithAuditRecord<PolicyException>> {
      await findPolicy(stores.policies, owner.organizationId, owner.policyId)
      const nowMs = clock.nowMs()
      requireEnd(input.expiresAtMs, nowMs)
      await requireSubject(stores.exceptions, owner.organizationId, input.subject)
      if ((await stores.exceptions.countLive(owner, nowMs)) >= maxLive) {
        const message = `The policy has ${maxLive} live exceptions. End one first, or change the policy.`
        throw new Fault('conflict', 'exception_limit_reached', message)
      }
      const value = { ...owner, ...input, id: ids('exc'), createdAtMs: nowMs, endedAtMs: null, endedBy: null }
      await stores.exceptions.insert(value)
      return { value, record: exceptionAuditRecord('policy_exception.created', value) }
    },

    async end(
      stores: ExceptionStores,
      at: ExceptionOwner & { readonly id: string },
      endedBy: string,
    ): Promise<WithAuditRecord<PolicyException>> {
      const before = await findException(stores, at)
      const nowMs = clock.nowMs()
      const isLive = stateOf(before, nowMs) === 'live' && (await stores.exceptions.end(before, endedBy, nowMs))
      if (!isLive) throw new Fault('conflict', 'invalid_state', `The exception ${at.id} has already ended.`)
      const value = { ...before, endedAtMs: nowMs, endedBy }
      return { value, record: exceptionAuditRecord('policy_exception.ended', value) }
    },
  }
}

export async function findException(
  { policies, exceptions }: ExceptionStores,
  { id, ...owner }: ExceptionOwner & { readonly id: string },
): Promise<PolicyException> {
  await findPolicy(policies, owner.organizationId, owner.policyId)
  const found = await exceptions.find(owner, id)
  if (found) return found
  throw new Fault('not_found', 'not_found', `There is no exception ${id} of the policy ${owner.policyId}.`)
}

function requireEnd(expiresAtMs: number, nowMs: number): void {
  if (expiresAtMs <= nowMs) throw invalid('expires_at', 'must be in the future.')
  if (expiresAtMs > nowMs + maxDays * dayMs)
    throw invalid('expires_at', `must be at most ${maxDays} days ahead. What holds for longer belongs in the policy.`)
}

async function requireSubject(
  store: ExceptionStore,
  organizationId: string,
  subject: PolicyException['subject'],
): Promise<void> {
  if (subject.kind !== 'project' && subject.kind !== 'key') return
  if (await store.hasSubject(organizationId, subject.kind, subject.id)) return
  throw invalid(`for.${subject.kind}_id`, `there is no ${subject.kind} ${subject.id}.`)
}

const invalid = (param: string, problem: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${problem}`, { param })

/** Of a text it has the digests only. */
export const exceptionAuditRecord = (
  kind: Extract<AuditRecord['kind'], `policy_exception.${string}`>,
  exception: PolicyException,
): AuditRecord => ({
  kind,
  resourceId: exception.id,
  policyId: exception.policyId,
  details: {
    policy_id: exception.policyId,
    ...subjectFields(exception.subject),
    reason: exception.reason,
    owner: exception.owner,
    event_id: exception.eventId,
    expires_at: new Date(exception.expiresAtMs).toISOString(),
  },
})

function subjectFields(subject: PolicyException['subject']): Record<string, unknown> {
  if (subject.kind === 'text') return { text_digests: [...subject.digests] }
  return subject.kind === 'user' ? { user: subject.id } : { [`${subject.kind}_id`]: subject.id }
}
