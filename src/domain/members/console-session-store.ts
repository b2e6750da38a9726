import type { Member } from './member-store.ts'
import type { AdminKey, Organization } from '../identity/principal.ts'
import type { Page, Paged } from '../identity/store.ts'

/** A signed-in browser. It acts as its holder, and ends with it. */
export type ConsoleSession = {
  readonly id: string
  readonly organizationId: string
  readonly holder: SessionHolderRef
  readonly address: string
  readonly userAgent: string | null
  readonly createdAtMs: number
  readonly lastSeenAtMs: number
  /** However often it is used. */
  readonly expiresAtMs: number
}

/** Who a session acts as. */
export type SessionHolderRef = { readonly type: 'admin_key' | 'member'; readonly id: string }

/** A link that signs in once, as its administrator key. */
export type ConsoleLink = {
  readonly organizationId: string
  readonly adminKeyId: string
  readonly expiresAtMs: number
}

export type SessionHolder = { readonly key: AdminKey } | { readonly member: Member }
export type FoundSession = {
  readonly session: ConsoleSession
  readonly holder: SessionHolder
  readonly organization: Organization
}
export type FoundLink = { readonly link: ConsoleLink; readonly key: AdminKey; readonly organization: Organization }

/** The storage of sessions for authentication, outside of any transaction. Sessions and links are found by digest. */
export type ConsoleSessionReads = {
  findSession(digest: string): Promise<FoundSession | undefined>
  findLink(digest: string): Promise<FoundLink | undefined>
  /** Sets the time of the last use, also that of the member. */
  touchSession(id: string, atMs: number): Promise<void>
  /** Marks a sign-in through the identity provider as finished. Returns true for one caller only, over all nodes. */
  claimSignIn(digest: string, expiresAtMs: number): Promise<boolean>
  /** Removes sessions, links and sign-ins that have expired, and sessions that were not used since `idleSinceMs`. */
  removeExpired(times: SessionTimes): Promise<void>
}

export type SessionTimes = { readonly nowMs: number; readonly idleSinceMs: number }

/** A session in a list, with the name of its holder. */
export type ListedSession = ConsoleSession & { readonly holderName: string }

/** The changes of sessions in a transaction. */
export type ConsoleSessionStore = {
  insertSession(session: ConsoleSession, digest: string): Promise<void>
  /** Sessions that work at this time, with a holder that may be used. */
  listSessions(organizationId: string, page: Page & SessionTimes): Promise<Paged<ListedSession>>
  /** Returns false if there is no such session. */
  removeSession(organizationId: string, id: string): Promise<boolean>
  removeSessionsOf(organizationId: string, memberId: string): Promise<void>
  insertLink(link: ConsoleLink, digest: string): Promise<void>
  /** Deletes the link. Returns true for one caller only, so that a link works once. */
  takeLink(digest: string): Promise<boolean>
}
