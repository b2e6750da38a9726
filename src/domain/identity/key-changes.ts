import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Random } from '../../base/random.ts'
import { readAllowedIps } from './allowed-ips.ts'
import { changedValues, type AuditRecord, type WithAuditRecord } from '../mutations/audit-log.ts'
import { findAdminKey, findApiKey, type InProject } from './audited-directory.ts'
import { requireExpiry, requireName } from './bounds.ts'
import type { Issued } from './directory.ts'
import { isNarrower, requireMayChange, requireMayRotate, requireOwnerLeft, type KeyAuthority } from './key-authority.ts'
import type { KeyDigests } from './key-digests.ts'
import { mintSecret, redactSecret, type KeyKind } from './key-format.ts'
import type { Permission } from './permissions.ts'
import type { AdminKey, ApiKey } from './principal.ts'
import type { DirectoryStore } from './store.ts'

export type KeyChangeParts = {
  readonly clock: Clock
  readonly random: Random
  readonly digests: Pick<KeyDigests, 'current'>
}

/** Fields that are left out stay as they are. */
export type AdminKeyUpdate = {
  readonly name?: string | undefined
  readonly permissions?: readonly Permission[] | undefined
  readonly expiresAtMs?: number | null | undefined
  readonly allowedIps?: readonly string[] | null | undefined
}
export type ApiKeyUpdate = AdminKeyUpdate & { readonly models?: readonly string[] | null | undefined }

type ApiKeyRef = InProject & { readonly id: string; readonly by: KeyAuthority }
type AdminKeyRef = { readonly organizationId: string; readonly id: string; readonly by: KeyAuthority }

/** The longest time that a replaced secret can work beside the new one. */
export const maxGraceSeconds = 30 * 24 * 60 * 60

export type KeyChanges = ReturnType<typeof createKeyChanges>

/** Updates existing keys and rotates their secrets. Each operation locks the key, checks the caller and returns its audit record. */
export function createKeyChanges({ clock, random, digests }: KeyChangeParts) {
  return {
    async updateApiKey(store: DirectoryStore, ref: ApiKeyRef, update: ApiKeyUpdate): Promise<WithAuditRecord<ApiKey>> {
      await store.lockApiKey(ref.organizationId, ref.id)
      const before = await findApiKey(store, ref, ref.id)
      const after: ApiKey = { ...updated(before, update), models: given(update.models, before.models) }
      requireMayChange(ref.by, before, after)
      return saved(before, after, {
        kind: 'api_key.updated',
        projectId: after.projectId,
        write: () => store.updateApiKey(after),
      })
    },

    /** The last owner cannot be limited, as it cannot be revoked. */
    async updateAdminKey(
      store: DirectoryStore,
      { organizationId, id, by }: AdminKeyRef,
      update: AdminKeyUpdate,
    ): Promise<WithAuditRecord<AdminKey>> {
      await store.lockAdminKeys(organizationId)
      const before = await findAdminKey(store, organizationId, id)
      const after = updated(before, update)
      requireMayChange(by, before, after)
      if (isNarrower(after, before)) await requireOwnerLeft(store, before, clock.nowMs())
      return saved(before, after, { kind: 'admin_api_key.updated', write: () => store.updateAdminKey(after) })
    },

    async rotateApiKey(
      store: DirectoryStore,
      ref: ApiKeyRef,
      graceSeconds: number,
    ): Promise<WithAuditRecord<Issued<ApiKey>>> {
      await store.lockApiKey(ref.organizationId, ref.id)
      const key = await findApiKey(store, ref, ref.id)
      requireMayRotate(ref.by, key)
      const { secret, digest, fields } = replacement('ak', key, graceSeconds)
      const value = { key: { ...key, ...fields }, secret }
      await store.rotateApiKey(value.key, digest)
      const record = rotationRecord('api_key.rotated', value.key, graceSeconds)
      return { value, record: { ...record, projectId: key.projectId } }
    },

    async rotateAdminKey(
      store: DirectoryStore,
      { organizationId, id, by }: AdminKeyRef,
      graceSeconds: number,
    ): Promise<WithAuditRecord<Issued<AdminKey>>> {
      await store.lockAdminKeys(organizationId)
      const key = await findAdminKey(store, organizationId, id)
      requireMayRotate(by, key)
      const { secret, digest, fields } = replacement('adm', key, graceSeconds)
      const value = { key: { ...key, ...fields }, secret }
      await store.rotateAdminKey(value.key, digest)
      return { value, record: rotationRecord('admin_api_key.rotated', value.key, graceSeconds) }
    },
  }

  function updated<K extends AdminKey>(key: K, { name, permissions, expiresAtMs, allowedIps }: AdminKeyUpdate): K {
    if (name !== undefined) requireName(name)
    if (expiresAtMs !== key.expiresAtMs) requireExpiry(expiresAtMs, clock.nowMs())
    const networks = allowedIps && readAllowedIps(allowedIps)
    return {
      ...key,
      name: name ?? key.name,
      permissions: permissions ? [...new Set(permissions)] : key.permissions,
      expiresAtMs: given(expiresAtMs, key.expiresAtMs),
      allowedIps: given(networks, key.allowedIps),
    }
  }

  function replacement(kind: KeyKind, { id, expiresAtMs }: AdminKey, graceSeconds: number) {
    const nowMs = clock.nowMs()
    const keyExpiresAtMs = expiresAtMs ?? Infinity
    if (keyExpiresAtMs <= nowMs)
      throw new Fault('conflict', 'invalid_state', `${id} has expired. Set a later expires_at before you rotate it.`)
    const secret = mintSecret(kind, random)
    const previousExpiresAtMs = Math.min(nowMs + graceSeconds * 1000, keyExpiresAtMs)
    return {
      secret,
      digest: digests.current(secret),
      fields: { redactedValue: redactSecret(secret), previousExpiresAtMs },
    }
  }
}

const given = <T>(value: T | undefined, otherwise: T): T => (value === undefined ? otherwise : value)

type Save = Pick<AuditRecord, 'kind' | 'projectId'> & { readonly write: () => Promise<boolean> }

/** Writes the key if the update changes it. The audit record has the fields that changed, before and after. */
async function saved<K extends AdminKey>(
  before: K,
  after: K,
  { kind, projectId, write }: Save,
): Promise<WithAuditRecord<K>> {
  const [old, now] = [auditedFields(before), auditedFields(after)]
  const details = changedValues(old, now)
  if (Object.keys(details).length === 0) return { value: before }
  if (!(await write())) throw new Fault('not_found', 'not_found', `There is no key ${after.id}.`)
  return {
    value: after,
    record: { kind, resourceId: after.id, ...(projectId !== undefined && { projectId }), details },
  }
}

const auditedFields = (key: AdminKey & { readonly models?: ApiKey['models'] }): AuditRecord['details'] => ({
  name: key.name,
  permissions: key.permissions,
  expires_at: key.expiresAtMs === null ? null : Math.floor(key.expiresAtMs / 1000),
  allowed_ips: key.allowedIps,
  ...(key.models !== undefined && { models: key.models }),
})

const rotationRecord = (kind: AuditRecord['kind'], key: AdminKey, graceSeconds: number): AuditRecord => ({
  kind,
  resourceId: key.id,
  details: { name: key.name, redacted_value: key.redactedValue, grace_seconds: graceSeconds },
})
