import { isSameContent, policyModes, type PolicyContent } from './content.ts'

export const policyStates = ['draft', ...policyModes, 'paused'] as const
export type PolicyState = (typeof policyStates)[number]

/** Revisions are 32-bit integers. A policy that has reached the last one can only be read and deleted. */
export const maxRevision = 2_147_483_647

export type PolicyDraft = PolicyContent & {
  /** The version that the draft is based on: the one last published or rolled back to. */
  readonly baseVersion: number | null
}

/** A published version: numbered from 1, immutable. */
export type PolicyVersion = PolicyContent & {
  readonly id: string
  readonly version: number
  readonly publishedAtMs: number
  /** The id of the key or member; null for a version from before authors were recorded. */
  readonly publishedBy: string | null
  readonly reason: string | null
}

export type Policy = {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly description: string
  readonly state: PolicyState
  /** Incremented by every mutation. A mutation must name the revision that its caller has read. */
  readonly revision: number
  readonly draft: PolicyDraft
  /** The current version. */
  readonly published: PolicyVersion | null
  /** The share of users that it is enforced for, if its mode is `enforcing`. For the others it is only recorded. */
  readonly rolloutPercent: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** A policy in a list. It has no rule, so that a page stays small. */
export type PolicySummary = Omit<Policy, 'draft' | 'published'> & {
  readonly currentVersion: number | null
  readonly hasUnpublishedChanges: boolean
  /** Of the current version, and of the draft while nothing is published. */
  readonly mode: PolicyContent['mode']
  readonly scope: PolicyContent['scope']
}

export const summaryOf = ({ draft, published, ...rest }: Policy): PolicySummary => ({
  ...rest,
  currentVersion: published?.version ?? null,
  hasUnpublishedChanges: published === null || !isSameContent(draft, published),
  mode: (published ?? draft).mode,
  scope: (published ?? draft).scope,
})
