import type { RoleName } from '../identity/roles.ts'
import type { NamedPage, Paged } from '../identity/store.ts'

/** A person of an organization, who signs in through an identity provider. */
export type Member = {
  readonly id: string
  readonly organizationId: string
  /** In lower case. */
  readonly email: string | null
  /** The identity provider of the subject; null until the first sign-in. */
  readonly issuer: string | null
  readonly subject: string | null
  readonly name: string | null
  readonly role: RoleName
  /** `groups`: the identity provider decides the role at each sign-in. `invitation`: an administrator does. */
  readonly roleSource: RoleSource
  readonly createdAtMs: number
  readonly lastSeenAtMs: number | null
  readonly suspendedAtMs: number | null
  /** A removed member is found by nothing but a session. */
  readonly removedAtMs: number | null
}

export const roleSources = ['invitation', 'groups'] as const
export type RoleSource = (typeof roleSources)[number]

export const memberStatuses = ['invited', 'active', 'suspended'] as const
export type MemberStatus = (typeof memberStatuses)[number]

export const statusOf = ({ suspendedAtMs, lastSeenAtMs }: Member): MemberStatus => {
  if (suspendedAtMs !== null) return 'suspended'
  return lastSeenAtMs === null ? 'invited' : 'active'
}

export type MemberPage = NamedPage & { readonly role?: RoleName; readonly status?: MemberStatus }

/** The storage of members. Every lookup takes the organization first, for tenant isolation. */
export type MemberStore = {
  /** Locks the members of the organization until the end of the transaction. */
  lockMembers(organizationId: string): Promise<void>
  insertMember(member: Member): Promise<void>
  /** Writes all fields. */
  updateMember(member: Member): Promise<void>
  findMember(organizationId: string, id: string): Promise<Member | undefined>
  listMembers(organizationId: string, page: MemberPage): Promise<Paged<Member>>
  findByEmail(organizationId: string, email: string): Promise<Member | undefined>
  /** `issuer` null finds a member who was invited by subject and has not signed in yet. Without it, that of any issuer is found. */
  findBySubject(
    organizationId: string,
    person: { readonly issuer?: string | null; readonly subject: string },
  ): Promise<Member | undefined>
  /** Whether another member with the role owner has signed in and is not suspended. */
  hasOtherOwner(organizationId: string, id: string): Promise<boolean>
}
