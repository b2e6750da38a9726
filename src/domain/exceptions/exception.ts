import { hash } from 'node:crypto'
import type { Page, Paged } from '../identity/store.ts'

export const exceptionStates = ['live', 'ended', 'expired'] as const
export type ExceptionState = (typeof exceptionStates)[number]

/** Whose requests an exception covers. Of a text, only requests and responses in which nothing else matches. */
export type ExceptionSubject =
  | { readonly kind: 'project' | 'user' | 'key'; readonly id: string }
  | { readonly kind: 'text'; readonly digests: readonly string[] }

/** A policy is evaluated and recorded as ever for these requests, and not enforced until the exception ends. */
export type PolicyException = {
  readonly id: string
  readonly organizationId: string
  readonly policyId: string
  readonly subject: ExceptionSubject
  readonly reason: string
  /** The person or team that answers for it. */
  readonly owner: string
  /** The audit event that the text is of; null for all others. */
  readonly eventId: string | null
  /** The request of this event. Erasing its texts deletes the exception. */
  readonly requestId: string | null
  readonly createdBy: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
  /** When somebody ended it early; null otherwise. */
  readonly endedAtMs: number | null
  readonly endedBy: string | null
}

/** What a rulebook needs of an exception. */
export type LiveException = Pick<PolicyException, 'id' | 'policyId' | 'subject' | 'expiresAtMs'>

export type ExceptionOwner = Pick<PolicyException, 'organizationId' | 'policyId'>

export type ExceptionStore = {
  insert(exception: PolicyException): Promise<void>
  find(owner: ExceptionOwner, id: string): Promise<PolicyException | undefined>
  list(owner: ExceptionOwner, page: Page): Promise<Paged<PolicyException>>
  /** Those of all policies that have not ended at this time. The one that ends first is the first. */
  listLive(organizationId: string, nowMs: number): Promise<readonly PolicyException[]>
  /** Of the policy, at this time. */
  countLive(owner: ExceptionOwner, nowMs: number): Promise<number>
  /** Returns false if it has ended already. */
  end(exception: Pick<PolicyException, 'organizationId' | 'id'>, by: string | null, atMs: number): Promise<boolean>
  /** Whether the organization has this project, or this key of a project. */
  hasSubject(organizationId: string, kind: 'project' | 'key', id: string): Promise<boolean>
}

/** Exceptions that have expired and have no event in the audit log yet. */
export type ExpiredExceptions = {
  find(organizationId: string, id: string): Promise<PolicyException | undefined>
  /** Returns false if another node has recorded it. */
  markExpired(exception: Pick<PolicyException, 'organizationId' | 'id'>): Promise<boolean>
}

/** An exception ends at its second: a request at `expiresAtMs` is no longer covered. */
export const stateOf = (
  { endedAtMs, expiresAtMs }: Pick<PolicyException, 'endedAtMs' | 'expiresAtMs'>,
  nowMs: number,
): ExceptionState => (endedAtMs !== null ? 'ended' : nowMs < expiresAtMs ? 'live' : 'expired')

/** SHA-256 of the text in UTF-8, exactly as it is evaluated. */
export const textDigest = (text: string): string => `sha256:${hash('sha256', text, 'hex')}`
