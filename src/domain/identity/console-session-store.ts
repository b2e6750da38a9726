import type { AdminKey, Organization } from './principal.ts'

/** A signed-in browser. It acts as its administrator key, and ends with it. */
export type ConsoleSession = {
  readonly id: string
  readonly organizationId: string
  readonly adminKeyId: string
  readonly address: string
  readonly userAgent: string | null
  readonly createdAtMs: number
  readonly lastSeenAtMs: number
  /** However often it is used. */
  readonly expiresAtMs: number
}

/** A link that signs in once, as its administrator key. */
export type ConsoleLink = {
  readonly organizationId: string
  readonly adminKeyId: string
  readonly expiresAtMs: number
}

type OfKey = { readonly key: AdminKey; readonly organization: Organization }
export type FoundSession = OfKey & { readonly session: ConsoleSession }
export type FoundLink = OfKey & { readonly link: ConsoleLink }

/** The storage of sessions for authentication, outside of any transaction. Sessions and links are found by digest. */
export type ConsoleSessionReads = {
  findSession(digest: string): Promise<FoundSession | undefined>
  findLink(digest: string): Promise<FoundLink | undefined>
  /** Sets the time of the last use. */
  touchSession(id: string, atMs: number): Promise<void>
  /** Removes sessions and links that have expired, and sessions that were not used since `idleSinceMs`. */
  removeExpired(times: { readonly nowMs: number; readonly idleSinceMs: number }): Promise<void>
}

/** The changes of sessions in a transaction. */
export type ConsoleSessionStore = {
  insertSession(session: ConsoleSession, digest: string): Promise<void>
  /** Returns false if there is no such session. */
  removeSession(organizationId: string, id: string): Promise<boolean>
  insertLink(link: ConsoleLink, digest: string): Promise<void>
  /** Deletes the link. Returns true for one caller only, so that a link works once. */
  takeLink(digest: string): Promise<boolean>
}
