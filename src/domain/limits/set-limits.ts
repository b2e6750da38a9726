import { Fault } from '../../base/fault.ts'
import type { WithAuditRecord } from '../identity/audit-log.ts'
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
    if (!Number.isSafeInteger(limit) || limit < 0) throw invalid(`${limit} is no limit: whole numbers from 0.`)
  await overrides.set(input.organizationId, value)
  const details = { scope: value.scope, limits: value.limits }
  return { value, record: { kind: 'limits.updated', resourceId: value.subjectId, details } }
}

async function subjectOf(
  directory: DirectoryStore,
  { organizationId, projectId, keyId }: NewLimitOverride,
): Promise<Pick<LimitOverride, 'scope' | 'subjectId'>> {
  if (keyId !== undefined) {
    if (await directory.findApiKey(organizationId, keyId)) return { scope: 'key', subjectId: keyId }
    throw new Fault('not_found', 'not_found', `There is no API key ${keyId}.`)
  }
  if (projectId === undefined) return { scope: 'organization', subjectId: organizationId }
  if (await directory.findProject(organizationId, projectId)) return { scope: 'project', subjectId: projectId }
  throw new Fault('not_found', 'not_found', `There is no project ${projectId}.`)
}

/** Fields that are left out stay as they are. */
export type AccountUpdate = { readonly plan?: string | undefined; readonly metered?: boolean | undefined }

/** Changes the plan, which decides the tier together with the payments, and whether use costs credits. */
export async function updateAccount(
  directory: DirectoryStore,
  organizationId: string,
  { plan, metered }: AccountUpdate,
): Promise<WithAuditRecord<Organization>> {
  if (plan !== undefined && !isPlan(plan)) throw invalid(`There is no plan ${plan}; there are: ${plans.join(', ')}.`)
  if (plan !== undefined) await directory.setPlan(organizationId, plan)
  if (metered !== undefined) await directory.setMetered(organizationId, metered)
  const value = existing(organizationId, await directory.findOrganization(organizationId))
  const details = { ...(plan !== undefined && { plan }), ...(metered !== undefined && { metered }) }
  return { value, record: { kind: 'organization.updated', resourceId: organizationId, details } }
}

const invalid = (message: string): Fault => new Fault('validation', 'invalid_parameter', message)
