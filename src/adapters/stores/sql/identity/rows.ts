import { isPermission } from '../../../../domain/identity/permissions.ts'
import type { AdminKey, ApiKey, Organization, Project } from '../../../../domain/identity/principal.ts'
import type { Transaction } from '../database.ts'
import type { ProjectKey } from '../../../../domain/identity/store.ts'

/** The columns of each table in the order of its row type, and the mapping of rows to domain types. */
export const columns = {
  organization: 'id, name, plan, lifetime_paid_micro_usd, metered, created_at',
  project: 'id, organization_id, name, created_at, archived_at',
  apiKey:
    'id, organization_id, project_id, name, redacted_value, permissions, allowed_ips, models, created_at, expires_at, revoked_at, last_used_at, previous_expires_at',
  adminKey:
    'id, organization_id, name, redacted_value, permissions, allowed_ips, created_at, expires_at, revoked_at, last_used_at, previous_expires_at',
}

/** The columns of a table that has an alias. */
export const prefixed = (alias: string, list: string): string => list.replace(/\w+/g, `${alias}.$&`)

export type OrganizationRow = {
  id: string
  name: string
  plan: string
  lifetime_paid_micro_usd: number
  metered: number
  created_at: number
}

export const organizationOf = (row: OrganizationRow): Organization => ({
  id: row.id,
  name: row.name,
  plan: row.plan,
  lifetimePaidMicroUsd: row.lifetime_paid_micro_usd,
  metered: row.metered === 1,
  createdAtMs: row.created_at,
})

export type ProjectRow = {
  id: string
  organization_id: string
  name: string
  created_at: number
  archived_at: number | null
}

export const projectOf = (row: ProjectRow): Project => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  createdAtMs: row.created_at,
  archivedAtMs: row.archived_at,
})

export type AdminKeyRow = {
  id: string
  organization_id: string
  name: string
  redacted_value: string
  permissions: string
  allowed_ips: string | null
  created_at: number
  expires_at: number | null
  revoked_at: number | null
  last_used_at: number | null
  previous_expires_at: number | null
}

export const adminKeyOf = (row: AdminKeyRow): AdminKey => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  redactedValue: row.redacted_value,
  permissions: stringsOf(row.permissions).filter(isPermission),
  allowedIps: row.allowed_ips === null ? null : stringsOf(row.allowed_ips),
  createdAtMs: row.created_at,
  expiresAtMs: row.expires_at,
  revokedAtMs: row.revoked_at,
  lastUsedAtMs: row.last_used_at,
  previousExpiresAtMs: row.previous_expires_at,
})

export type ApiKeyRow = AdminKeyRow & { project_id: string; models: string | null }

export const apiKeyOf = (row: ApiKeyRow): ApiKey => ({
  ...adminKeyOf(row),
  projectId: row.project_id,
  models: row.models === null ? null : stringsOf(row.models),
})

export type ProjectKeyRow = ApiKeyRow & { project_name: string; project_archived_at: number | null }

export const projectKeyOf = (row: ProjectKeyRow): ProjectKey => ({
  ...apiKeyOf(row),
  project: { name: row.project_name, archivedAtMs: row.project_archived_at },
})

export function stringsOf(json: string): string[] {
  const value: unknown = JSON.parse(json)
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** Finds one row and maps it. */
export const finder =
  (tx: Transaction) =>
  async <T>(map: (row: never) => T, sql: string, params: string[]): Promise<T | undefined> => {
    const [row] = await tx.query(sql, params)
    return row === undefined ? undefined : map(row as never)
  }
