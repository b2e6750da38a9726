import { Fault, type FaultCode } from '../../base/fault.ts'
import { contentOf, contentWith, initialContent, isSameContent, type PolicyContent } from './content.ts'
import { maxRevision, summaryOf, type Policy, type PolicyVersion } from './policy.ts'

/** What a creator says; the rest has defaults. */
export type NewPolicy = Partial<PolicyContent> & {
  readonly name: string
  readonly rule: string
  readonly description?: string
}

/** What an update says: a field that is left out stays as it is. */
export type PolicyPatch = Partial<PolicyContent> & { readonly name?: string; readonly description?: string }

/** What a new version needs besides its content. */
export type Publication = { readonly versionId: string; readonly nowMs: number }

type Birth = { readonly id: string; readonly organizationId: string; readonly nowMs: number }

export function createPolicy({ name, description = '', ...content }: NewPolicy, birth: Birth): Policy {
  return {
    id: birth.id,
    organizationId: birth.organizationId,
    name,
    description,
    state: 'draft',
    revision: 1,
    draft: { ...contentWith(initialContent, content), baseVersion: null },
    published: null,
    createdAtMs: birth.nowMs,
    updatedAtMs: birth.nowMs,
  }
}

/** Changes the draft, and the name and description at once. Answers the same policy where nothing differs. */
export function updatePolicy(policy: Policy, { name, description, ...content }: PolicyPatch, nowMs: number): Policy {
  const draft = { ...contentWith(policy.draft, content), baseVersion: policy.draft.baseVersion }
  const next = { name: name ?? policy.name, description: description ?? policy.description }
  const isSame = next.name === policy.name && next.description === policy.description
  if (isSame && isSameContent(draft, policy.draft)) return policy
  return revised(policy, { ...next, draft }, nowMs)
}

/** The draft becomes the current version. A paused policy stays paused: it never comes alive by itself. */
export function publishPolicy(policy: Policy, publication: Publication): Policy {
  if (!summaryOf(policy).hasUnpublishedChanges)
    throw conflict(
      'no_unpublished_changes',
      'The draft is the same as the current version: there is nothing to publish.',
    )
  if (policy.draft.scope === 'projects' && policy.draft.projectIds.length === 0)
    throw conflict('no_projects', 'The scope is projects, but the draft lists none.', 'project_ids')
  const published = versionOf(policy, policy.draft, publication)
  return withVersion(policy, published, { baseVersion: published.version, nowMs: publication.nowMs })
}

/** An earlier version's content is published again, as a new version, and becomes the draft too. */
export function rollBackPolicy(policy: Policy, earlier: PolicyVersion, publication: Publication): Policy {
  if (earlier.version === policy.published?.version)
    throw conflict(
      'invalid_state',
      `Version ${earlier.version} is the current one; roll back to an earlier one.`,
      'version',
    )
  const published = versionOf(policy, earlier, publication)
  return withVersion(policy, published, { baseVersion: earlier.version, nowMs: publication.nowMs })
}

export function pausePolicy(policy: Policy, nowMs: number): Policy {
  if (policy.state === 'monitoring' || policy.state === 'enforcing') return revised(policy, { state: 'paused' }, nowMs)
  throw conflict('invalid_state', `Only a policy in force can be paused; this one is in the state ${policy.state}.`)
}

export function resumePolicy(policy: Policy, nowMs: number): Policy {
  if (policy.state === 'paused' && policy.published) return revised(policy, { state: policy.published.mode }, nowMs)
  throw conflict('invalid_state', `Only a paused policy can be resumed; this one is in the state ${policy.state}.`)
}

/** A change is made against a revision; when another change came between, it is refused. */
export function requireRevision(policy: Policy, revision: number): void {
  if (policy.revision !== revision) throw revisionConflict(policy.revision, revision)
}

export const revisionConflict = (current: number, named: number): Fault =>
  conflict('revision_conflict', `The policy is at revision ${current}; the request names ${named}.`, 'revision')

function versionOf(policy: Policy, content: PolicyContent, { versionId, nowMs }: Publication): PolicyVersion {
  return {
    ...contentOf(content),
    id: versionId,
    version: (policy.published?.version ?? 0) + 1, // the current version is always the last one
    publishedAtMs: nowMs,
  }
}

type Base = { readonly baseVersion: number; readonly nowMs: number }

function withVersion(policy: Policy, published: PolicyVersion, { baseVersion, nowMs }: Base): Policy {
  const state = policy.state === 'paused' ? 'paused' : published.mode
  return revised(policy, { state, published, draft: { ...contentOf(published), baseVersion } }, nowMs)
}

function revised(policy: Policy, change: Partial<Policy>, nowMs: number): Policy {
  if (policy.revision >= maxRevision)
    throw conflict('revision_exhausted', 'The policy has used up its revisions. Create a new one in its place.')
  return { ...policy, ...change, revision: policy.revision + 1, updatedAtMs: nowMs }
}

const conflict = (code: FaultCode, message: string, param?: string): Fault =>
  new Fault('conflict', code, message, param === undefined ? {} : { param })
