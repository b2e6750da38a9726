import type { Page, Paged } from './store.ts'

/** Every kind of change that administration can make. */
export const auditKinds = [
  'policy.created',
  'policy.updated',
  'policy.published',
  'policy.paused',
  'policy.resumed',
  'policy.rolled_back',
  'policy.deleted',
  'admin_api_key.created',
  'admin_api_key.revoked',
  'project.created',
  'project.updated',
  'project.archived',
  'api_key.created',
  'api_key.revoked',
] as const

export type AuditKind = (typeof auditKinds)[number]

/** What a change was, told by the operation that made it. */
export type AuditRecord = {
  readonly kind: AuditKind
  /** The policy, key or project that was changed. */
  readonly resourceId: string
  readonly policyId?: string
  readonly projectId?: string
  readonly oldRevision?: number
  readonly newRevision?: number
  /** Never a secret. */
  readonly details: Readonly<Record<string, unknown>>
}

/** What an operation answers, with its record; without one it changed nothing. */
export type Recorded<T> = { readonly value: T; readonly record?: AuditRecord }

/** Who made a change: a key over the API, or somebody at the machine itself. */
export type Actor = {
  readonly organizationId: string
  readonly kind: 'admin_key' | 'operator'
  readonly credentialId: string | null
  readonly requestId: string | null
}

export type AuditEntry = AuditRecord & { readonly id: string; readonly actor: Actor; readonly atMs: number }

export type AuditFilter = {
  readonly kind?: AuditKind
  readonly policyId?: string
  readonly projectId?: string
  readonly requestId?: string
}

/** Entries are only ever added. */
export type AuditLogStore = {
  append(entry: AuditEntry): Promise<void>
  list(organizationId: string, filter: AuditFilter, page: Page): Promise<Paged<AuditEntry>>
}
