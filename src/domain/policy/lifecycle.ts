import { Fault, type FaultCode } from '../../base/fault.ts'
import { contentOf, contentWith, initialContent, isSameContent, type PolicyContent } from './content.ts'
import { maxRevision, summaryOf, type Policy, type PolicyVersion } from './policy.ts'

/** Input of a creation; fields that are left out get their defaults. */
export type NewPolicy = Partial<PolicyContent> & {
  readonly name: string
  readonly rule: string
  readonly description?: string
}

/** Input of an update; fields that are left out stay unchanged. */
export type PolicyPatch = Partial<PolicyContent> & { readonly name?: string; readonly description?: string }

/** Who publishes a version, and why. */
export type PublicationNote = { readonly publishedBy: string | null; readonly reason: string | null }

/** Id, time and note of a new version. Without a percent it is enforced for everybody. */
export type Publication = PublicationNote & {
  readonly versionId: string
  readonly nowMs: number
  readonly rolloutPercent?: number | undefined
}

type Creation = { readonly id: string; readonly organizationId: string; readonly nowMs: number }

export function createPolicy({ name, description = '', ...content }: NewPolicy, creation: Creation): Policy {
  return {
    id: creation.id,
    organizationId: creation.organizationId,
    name,
    description,
    state: 'draft',
    revision: 1,
    draft: { ...contentWith(initialContent, content), baseVersion: null },
    published: null,
    rolloutPercent: 100,
    createdAtMs: creation.nowMs,
    updatedAtMs: creation.nowMs,
  }
}

/** Changes the draft; a new name and description take effect at once. Returns the same object if nothing differs. */
export function updatePolicy(policy: Policy, { name, description, ...content }: PolicyPatch, nowMs: number): Policy {
  const draft = { ...contentWith(policy.draft, content), baseVersion: policy.draft.baseVersion }
  const next = { name: name ?? policy.name, description: description ?? policy.description }
  const isSame = next.name === policy.name && next.description === policy.description
  if (isSame && isSameContent(draft, policy.draft)) return policy
  return withRevision(policy, { ...next, draft }, nowMs)
}

/** Publishes the draft as the current version. A paused policy stays paused until it is resumed. */
export function publishPolicy(policy: Policy, publication: Publication): Policy {
  if (!summaryOf(policy).hasUnpublishedChanges)
    throw conflict(
      'no_unpublished_changes',
      'The draft is the same as the current version. Change the draft before publishing.',
    )
  if (policy.draft.scope === 'projects' && policy.draft.projectIds.length === 0)
    throw conflict(
      'no_projects',
      'The scope is projects, but project_ids is empty. Add a project or choose another scope.',
      'project_ids',
    )
  const published = versionOf(policy, policy.draft, publication)
  const { nowMs, rolloutPercent = 100 } = publication
  return withVersion(policy, published, { baseVersion: published.version, nowMs, rolloutPercent })
}

/** Resets the draft to the current version. Name and description are not part of the draft and stay. */
export function discardDraft(policy: Policy, nowMs: number): Policy {
  if (!policy.published)
    throw conflict(
      'invalid_state',
      'Nothing was published yet, so there is no version to return to. Change the draft, or delete the policy.',
    )
  if (!summaryOf(policy).hasUnpublishedChanges)
    throw conflict(
      'no_unpublished_changes',
      'The draft is the same as the current version. There is nothing to discard.',
    )
  return withRevision(
    policy,
    { draft: { ...contentOf(policy.published), baseVersion: policy.draft.baseVersion } },
    nowMs,
  )
}

/** Publishes the content of an earlier version again as a new version, and replaces the draft with it. */
export function rollBackPolicy(policy: Policy, earlier: PolicyVersion, publication: Publication): Policy {
  if (earlier.version === policy.published?.version)
    throw conflict(
      'invalid_state',
      `Version ${earlier.version} is the current version. Roll back to an earlier one.`,
      'version',
    )
  const published = versionOf(policy, earlier, publication)
  const { nowMs } = publication
  return withVersion(policy, published, { baseVersion: earlier.version, nowMs, rolloutPercent: 100 })
}

export function pausePolicy(policy: Policy, nowMs: number): Policy {
  if (policy.state === 'monitoring' || policy.state === 'enforcing')
    return withRevision(policy, { state: 'paused' }, nowMs)
  throw conflict(
    'invalid_state',
    `Only a policy that is monitoring or enforcing can be paused. The state of this one is ${policy.state}.`,
  )
}

export function resumePolicy(policy: Policy, nowMs: number): Policy {
  if (policy.state === 'paused' && policy.published)
    return withRevision(policy, { state: policy.published.mode }, nowMs)
  throw conflict('invalid_state', `Only a paused policy can be resumed. The state of this one is ${policy.state}.`)
}

/** Changes the share of users that the current version is enforced for. Returns the same object if it is the same share. */
export function rollOutPolicy(policy: Policy, rolloutPercent: number, nowMs: number): Policy {
  if (policy.published?.mode !== 'enforcing')
    throw conflict(
      'invalid_state',
      'Only a policy whose current version is enforcing has a rollout. Publish it with the mode enforcing and a rollout_percent.',
    )
  return policy.rolloutPercent === rolloutPercent ? policy : withRevision(policy, { rolloutPercent }, nowMs)
}

/** Optimistic locking: rejects a mutation if another one was committed since the caller read the policy. */
export function requireRevision(policy: Policy, revision: number): void {
  if (policy.revision !== revision) throw revisionConflict(policy.revision, revision)
}

export const revisionConflict = (current: number, named: number): Fault =>
  conflict('revision_conflict', `The policy is at revision ${current}; the request names ${named}.`, 'revision')

function versionOf(policy: Policy, content: PolicyContent, publication: Publication): PolicyVersion {
  const { versionId, nowMs, publishedBy, reason } = publication
  return {
    ...contentOf(content),
    id: versionId,
    version: (policy.published?.version ?? 0) + 1, // the current version is always the latest one
    publishedAtMs: nowMs,
    publishedBy,
    reason,
  }
}

type Base = { readonly baseVersion: number; readonly nowMs: number; readonly rolloutPercent: number }

function withVersion(policy: Policy, published: PolicyVersion, { baseVersion, nowMs, rolloutPercent }: Base): Policy {
  const state = policy.state === 'paused' ? 'paused' : published.mode
  return withRevision(
    policy,
    { state, published, rolloutPercent, draft: { ...contentOf(published), baseVersion } },
    nowMs,
  )
}

function withRevision(policy: Policy, change: Partial<Policy>, nowMs: number): Policy {
  if (policy.revision >= maxRevision)
    throw conflict('revision_exhausted', 'The policy has reached its last revision. Create a new policy instead.')
  return { ...policy, ...change, revision: policy.revision + 1, updatedAtMs: nowMs }
}

const conflict = (code: FaultCode, message: string, param?: string): Fault =>
  new Fault('conflict', code, message, param === undefined ? {} : { param })
