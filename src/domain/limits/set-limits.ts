import { Fault } from '../../base/fault.ts'
import { changedValues, type WithAuditRecord } from '../mutations/audit-log.ts'
import { requireName } from '../identity/bounds.ts'
import { existing } from '../identity/operator.ts'
import type { Organization } from '../identity/principal.ts'
import type { DirectoryStore } from '../identity/store.ts'
import type { LimitOverride, OverrideStore } from './overrides.ts'
import { isPlan, plans } from './tiers.ts'

/** The limits of a project or an API key of the organization; without either, of the organization. */
export type NewLimitOverride = {
  readonly organizationId: string
  readonly projectId?: string | undefined
  readonly keyId?: string | undefined
  /** Replaces the limits that were set before. Empty: the limits of the tier apply again. */
  readonly limits: LimitOverride['limits']
}

type OverrideStores = { readonly directory: DirectoryStore; readonly overrides: OverrideStore }

/** Sets or removes limits that apply in place of the tier's. */
export async function setLimitOverride(
  { directory, overrides }: OverrideStores,
  input: NewLimitOverride,
): Promise<WithAuditRecord<LimitOverride>> {
  const value = { ...(await subjectOf(directory, input)), limits: input.limits }
  for (const limit of Object.values(input.limits))
    if (!Number.isSafeInteger(limit) || limit < 0) throw invalid('limits', `${limit} is no limit: whole numbers from 0`)
  await overrides.set(input.organizationId, value)
  const details = { scope: value.scope, limits: value.limits }
  return { value, record: { kind: 'limits.updated', resourceId: value.subjectId, details } }
}

async function subjectOf(
  directory: DirectoryStore,
  { organizationId, projectId, keyId }: NewLimitOverride,
): Promise<Pick<LimitOverride, 'scope' | 'subjectId'>> {
  if (keyId !== undefined && projectId !== undefined)
    throw invalid('api_key_id', 'send either project_id or api_key_id, not both')
  if (keyId !== undefined) {
    if (await directory.findApiKey(organizationId, keyId)) return { scope: 'key', subjectId: keyId }
    throw invalid('api_key_id', `there is no API key ${keyId}`)
  }
  if (projectId === undefined) return { scope: 'organization', subjectId: organizationId }
  if (await directory.findProject(organizationId, projectId)) return { scope: 'project', subjectId: projectId }
  throw invalid('project_id', `there is no project ${projectId}`)
}

/** Fields that are left out stay as they are. */
export type OrganizationUpdate = {
  readonly name?: string | undefined
  readonly plan?: string | undefined
  readonly metered?: boolean | undefined
}

/** Changes the name, the plan, which decides the tier together with the payments, and whether use costs credits. */
export async function updateOrganization(
  directory: DirectoryStore,
  organizationId: string,
  { name, plan, metered }: OrganizationUpdate,
): Promise<WithAuditRecord<Organization>> {
  const before = existing(organizationId, await directory.findOrganization(organizationId))
  if (name !== undefined) requireName(name)
  if (plan !== undefined && !isPlan(plan))
    throw invalid('plan', `there is no plan ${plan}; there are: ${plans.join(', ')}`)
  const changes = {
    ...(name !== undefined && name !== before.name && { name }),
    ...(plan !== undefined && plan !== before.plan && { plan }),
    ...(metered !== undefined && metered !== before.metered && { metered }),
  }
  if (Object.keys(changes).length === 0) return { value: before }
  await directory.updateOrganization(organizationId, changes)
  const details = changedValues({ ...before }, changes)
  return {
    value: { ...before, ...changes },
    record: { kind: 'organization.updated', resourceId: organizationId, details },
  }
}

const invalid = (param: string, message: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${message}.`, { param })
