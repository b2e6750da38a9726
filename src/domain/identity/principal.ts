import type { Network } from './allowed-ips.ts'
import type { Permission } from './permissions.ts'

export type Organization = {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly lifetimePaidMicroUsd: number
  /** Whether its use is paid for in credits. */
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

/** What both kinds of key share. The secret itself is never kept, only its digest. */
type KeyRecord = {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly redactedValue: string
  readonly permissions: readonly Permission[]
  /** The networks (CIDR) that it may be used from; null is everywhere. */
  readonly allowedIps: readonly string[] | null
  readonly createdAtMs: number
  readonly expiresAtMs: number | null
  readonly revokedAtMs: number | null
  readonly lastUsedAtMs: number | null
}

/** Speaks for a project: inference, credits, and the policy gateway. */
export type ApiKey = KeyRecord & {
  readonly projectId: string
  /** The models it may use; null is all of them. */
  readonly models: readonly string[] | null
}

/** Speaks for an organization's administration. */
export type AdminKey = KeyRecord

/** Who asks, once known. */
export type Principal = {
  readonly kind: 'api_key' | 'jwt'
  /** The key's id, or one made of the token's subject: what limits of the smallest scope count by. */
  readonly id: string
  readonly organization: Organization
  readonly projectId: string
  readonly models: readonly string[] | null
  readonly permissions: ReadonlySet<Permission>
  /** Where requests may come from; null is everywhere. */
  readonly networks: readonly Network[] | null
}

/** The single anonymous free request: nobody's, so no organization. `client` is a keyed hash of the address. */
export type FreeCaller = {
  readonly kind: 'free'
  readonly client: string
  /** The same client under the other server secrets that are accepted. */
  readonly aliases: readonly string[]
}

export type Caller = Principal | FreeCaller

export type Administrator = {
  readonly kind: 'admin_key' | 'operator'
  readonly id: string
  readonly organization: Organization
  readonly permissions: ReadonlySet<Permission>
  /** When the key stops working; it creates none that works for longer. */
  readonly expiresAtMs: number | null
  /** Where requests may come from, null is everywhere; it creates none that works from elsewhere. */
  readonly networks: readonly Network[] | null
}
