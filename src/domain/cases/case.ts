import type { Page, Paged } from '../identity/store.ts'

export const caseWeights = ['must', 'should'] as const
export type CaseWeight = (typeof caseWeights)[number]

/** Where a case comes from: a person wrote it, or it is a text of a request. */
export const caseOrigins = ['written', 'appeal', 'replay', 'playground'] as const
export type CaseOrigin = (typeof caseOrigins)[number]

/** A request or response in the form of the API. */
export type CaseInput = Readonly<Record<string, unknown>>

/** Whether the rule matches, or the range of its score in basis points. */
export type Expectation =
  | 'match'
  | 'no_match'
  | { readonly atLeast?: number | undefined; readonly atMost?: number | undefined }

/** A text with what the rule of a policy is expected to find in it. Versions of the policy come and go, its cases stay. */
export type PolicyCase = {
  readonly id: string
  readonly organizationId: string
  readonly policyId: string
  /** What the case is about, in a few words. */
  readonly says: string
  readonly given: CaseInput
  readonly expected: Expectation
  /** A draft that fails a `must` is wrong. One that fails a `should` is reported. */
  readonly weight: CaseWeight
  readonly origin: CaseOrigin
  /** The audit event that the text is of; null if a person wrote it. */
  readonly eventId: string | null
  /** The request of this event. Erasing its texts deletes the case. */
  readonly requestId: string | null
  readonly tags: readonly string[]
  /** The administrator key or member that decided what is expected. */
  readonly labelledBy: string
  readonly labelledAtMs: number
  readonly revision: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** What identifies a state of a case. */
export type CaseRevision = Pick<PolicyCase, 'id' | 'revision' | 'weight'>

/** The policy that cases belong to. */
export type CaseOwner = { readonly organizationId: string; readonly policyId: string }

export type CaseStore = {
  insert(policyCase: PolicyCase): Promise<void>
  find(owner: CaseOwner, id: string): Promise<PolicyCase | undefined>
  list(owner: CaseOwner, page: Page): Promise<Paged<PolicyCase>>
  /** All cases of the policy, the oldest first. */
  all(owner: CaseOwner): Promise<readonly PolicyCase[]>
  /** All cases without their texts. */
  revisions(owner: CaseOwner): Promise<readonly CaseRevision[]>
  count(owner: CaseOwner): Promise<number>
  /** Compare-and-set: writes the case only if the stored one has the revision before. */
  replace(policyCase: PolicyCase): Promise<boolean>
  remove(owner: CaseOwner, id: string): Promise<void>
  /** The id of the request that an audit event of the organization is about. */
  requestOf(organizationId: string, eventId: string): Promise<string | undefined>
}
