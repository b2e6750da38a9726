import type { Network } from './allowed-ips.ts'
import type { Permission } from './permissions.ts'

export type Organization = {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly lifetimePaidMicroUsd: number
  /** Whether usage is charged in credits. */
  readonly metered: boolean
  readonly createdAtMs: number
}

export type Project = {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly createdAtMs: number
  readonly archivedAtMs: number | null
}

/** The fields of both kinds of key. The secret is never stored, only its digest. */
type KeyRecord = {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly redactedValue: string
  readonly permissions: readonly Permission[]
  /** The networks (CIDR) that the key may be used from; null allows every address. */
  readonly allowedIps: readonly string[] | null
  readonly createdAtMs: number
  readonly expiresAtMs: number | null
  readonly revokedAtMs: number | null
  readonly lastUsedAtMs: number | null
  /** When the secret that the last rotation replaced stops or stopped working; null before the first rotation. */
  readonly previousExpiresAtMs: number | null
}

/** Belongs to a project: for inference, credits and the policy gateway. */
export type ApiKey = KeyRecord & {
  readonly projectId: string
  /** The models that the key may use; null allows all. */
  readonly models: readonly string[] | null
}

/** For the administration of an organization. */
export type AdminKey = KeyRecord

/** An authenticated caller of inference or of the policy gateway. */
export type Principal = {
  /** The kind of an administrator, for a request of the playground. */
  readonly kind: 'api_key' | 'jwt' | Administrator['kind']
  /** The key's id, or an id derived from the token's subject. Limits of the scope `key` are counted per id. */
  readonly id: string
  readonly organization: Organization
  readonly projectId: string
  readonly models: readonly string[] | null
  readonly permissions: ReadonlySet<Permission>
  /** The networks that requests may come from; null allows every address. */
  readonly networks: readonly Network[] | null
}

/** The caller of the anonymous free request. It has no organization. `client` is a keyed hash of the address. */
export type FreeCaller = {
  readonly kind: 'free'
  readonly client: string
  /** The same client under the other server secrets that are accepted. */
  readonly aliases: readonly string[]
}

export type Caller = Principal | FreeCaller

export type Administrator = {
  /** `console`: a session of the console, which acts as the key with this id. `member`: a session of the member with this id. */
  readonly kind: 'admin_key' | 'console' | 'member' | 'operator'
  readonly id: string
  /** The session of the console, if the request has one. */
  readonly sessionId?: string
  readonly organization: Organization
  readonly permissions: ReadonlySet<Permission>
  /** When the key expires. It cannot create a key that expires later. */
  readonly expiresAtMs: number | null
  /** The networks that requests may come from; null allows every address. It cannot create a key with more. */
  readonly networks: readonly Network[] | null
}
