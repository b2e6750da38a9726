import { isSameContent, policyModes, type PolicyContent } from './content.ts'

export const policyStates = ['draft', ...policyModes, 'paused'] as const
export type PolicyState = (typeof policyStates)[number]

/** Revisions travel as 32-bit integers; a policy that reached the last one can only be read and deleted. */
export const maxRevision = 2_147_483_647

export type PolicyDraft = PolicyContent & {
  /** The version it was made from: the one last published or rolled back to. */
  readonly baseVersion: number | null
}

/** Published, numbered from 1, never changed afterwards. */
export type PolicyVersion = PolicyContent & {
  readonly id: string
  readonly version: number
  readonly publishedAtMs: number
}

export type Policy = {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly description: string
  readonly state: PolicyState
  /** Raised by every change; a change must name the one it was made against. */
  readonly revision: number
  readonly draft: PolicyDraft
  /** The current version. */
  readonly published: PolicyVersion | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** What lists show: no rule, so that a page of long rules stays small. */
export type PolicySummary = Omit<Policy, 'draft' | 'published'> & {
  readonly currentVersion: number | null
  readonly hasUnpublishedChanges: boolean
}

export const summaryOf = ({ draft, published, ...rest }: Policy): PolicySummary => ({
  ...rest,
  currentVersion: published?.version ?? null,
  hasUnpublishedChanges: published === null || !isSameContent(draft, published),
})
