import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import { contentBody } from '../../../domain/policy/content.ts'
import { summaryOf, type Policy, type PolicySummary, type PolicyVersion } from '../../../domain/policy/policy.ts'
import type { ManagedResource } from '../../resources/managed-by.ts'
import type * as Schema from './schema.ts'

export const managedPolicy = ({ id }: Policy): ManagedResource => ({
  id,
  kind: 'policy.updated',
  permission: 'policies:write',
})

export const presentSummary = (policy: PolicySummary) => ({
  id: policy.id,
  object: 'organization.policy' as const,
  name: policy.name,
  description: policy.description,
  state: policy.state,
  revision: policy.revision,
  current_version: policy.currentVersion,
  has_unpublished_changes: policy.hasUnpublishedChanges,
  rollout_percent: policy.rolloutPercent,
  created_at: toUnixSeconds(policy.createdAtMs),
  updated_at: toUnixSeconds(policy.updatedAtMs),
})

export const presentPolicy = (policy: Policy): Static<typeof Schema.Policy> => ({
  ...presentSummary(summaryOf(policy)),
  draft: { ...contentBody(policy.draft), base_version: policy.draft.baseVersion },
  published: policy.published && presentPolicyVersion(policy.published, policy),
})

export const presentPolicyVersion = (version: PolicyVersion, { published }: Pick<Policy, 'published'>) => ({
  id: version.id,
  object: 'organization.policy.version' as const,
  version: version.version,
  ...contentBody(version),
  published_at: toUnixSeconds(version.publishedAtMs),
  published_by: version.publishedBy,
  reason: version.reason,
  current: version.version === published?.version,
})

export const presentDeletedPolicy = ({ id }: Policy): Static<typeof Schema.DeletedPolicy> => ({
  id,
  object: 'organization.policy.deleted',
  deleted: true,
})
