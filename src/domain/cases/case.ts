import { decisions } from '../audit/event/verdict.ts'
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

/** What a gateway configuration can decide. */
export const expectedDecisions = decisions.filter((decision) => decision !== 'not_evaluated')
export type ExpectedDecision = (typeof expectedDecisions)[number]

type CaseFields = {
  readonly id: string
  readonly organizationId: string
  /** What the case is about, in a few words. */
  readonly says: string
  readonly given: CaseInput
  /** A change that fails a `must` is wrong. One that fails a `should` is reported. */
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

/** A text with what the rule of a policy is expected to find in it. Versions of the policy come and go, its cases stay. */
export type PolicyCase = CaseFields & { readonly policyId: string; readonly expected: Expectation }

/** A text with what the gateway configuration is expected to decide. */
export type GatewayCase = CaseFields & { readonly policyId: null; readonly expected: ExpectedDecision }

export type AnyCase = PolicyCase | GatewayCase

/** What identifies a state of a case. */
export type CaseRevision = Pick<AnyCase, 'id' | 'revision' | 'weight'>

/** What cases belong to: a policy, or the gateway configuration of the organization. */
export type CaseOwner<C extends AnyCase = PolicyCase> = Pick<C, 'organizationId' | 'policyId'>

export type CaseStore<C extends AnyCase = PolicyCase> = {
  insert(one: C): Promise<void>
  find(owner: CaseOwner<C>, id: string): Promise<C | undefined>
  list(owner: CaseOwner<C>, page: Page): Promise<Paged<C>>
  /** All cases of the owner, the oldest first. */
  all(owner: CaseOwner<C>): Promise<readonly C[]>
  /** All cases without their texts. */
  revisions(owner: CaseOwner<C>): Promise<readonly CaseRevision[]>
  count(owner: CaseOwner<C>): Promise<number>
  /** Compare-and-set: writes the case only if the stored one has the revision before. */
  replace(one: C): Promise<boolean>
  remove(owner: CaseOwner<C>, id: string): Promise<void>
  /** The id of the request that an audit event of the organization is about. */
  requestOf(organizationId: string, eventId: string): Promise<string | undefined>
}
