export const policyDirections = ['request', 'response', 'both'] as const
export const policyModes = ['monitoring', 'enforcing'] as const
export const policyScopes = ['organization', 'projects', 'unattached'] as const
export const policyStates = ['draft', 'monitoring', 'enforcing', 'paused'] as const

export type PolicyDirection = (typeof policyDirections)[number]
export type PolicyMode = (typeof policyModes)[number]
export type PolicyScope = (typeof policyScopes)[number]
export type PolicyState = (typeof policyStates)[number]

/** Revisions travel as 32-bit integers; a policy that reached the last one can only be read and deleted. */
export const maxRevision = 2_147_483_647

/** What a policy says: the part that is drafted and published. */
export type PolicyContent = {
  readonly rule: string
  readonly direction: PolicyDirection
  readonly mode: PolicyMode
  readonly scope: PolicyScope
  /** A set: order means nothing, nothing is in it twice. */
  readonly projectIds: readonly string[]
  /** The score from which the rule matches; null leaves it to the service. */
  readonly matchThresholdBasisPoints: number | null
}

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

/** The content alone, whatever carries it. */
export const contentOf = (carrier: PolicyContent): PolicyContent => ({
  rule: carrier.rule,
  direction: carrier.direction,
  mode: carrier.mode,
  scope: carrier.scope,
  projectIds: carrier.projectIds,
  matchThresholdBasisPoints: carrier.matchThresholdBasisPoints,
})

export const isSameContent = (left: PolicyContent, right: PolicyContent): boolean =>
  left.rule === right.rule &&
  left.direction === right.direction &&
  left.mode === right.mode &&
  left.scope === right.scope &&
  left.matchThresholdBasisPoints === right.matchThresholdBasisPoints &&
  new Set(left.projectIds).symmetricDifference(new Set(right.projectIds)).size === 0
