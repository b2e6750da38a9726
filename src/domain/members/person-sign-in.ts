import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { AuditedMutation } from '../mutations/audited-mutation.ts'
import type { WithAuditRecord } from '../mutations/audit-log.ts'
import { maxNameLength } from '../identity/bounds.ts'
import type { ConsoleSessionStore } from './console-session-store.ts'
import { administratorOf, type ConsoleSessions, type SessionOrigin } from './console-sessions.ts'
import type { Person } from './identity-provider.ts'
import type { Member, MemberStore } from './member-store.ts'
import { memberRecord } from './members.ts'
import type { Organization } from '../identity/principal.ts'
import { highestRole, type RoleName } from '../identity/roles.ts'

/** Why a person whom the identity provider knows may not sign in. */
export type SignInRefusal = 'not_a_member' | 'suspended'

export type SignInOutcome = { readonly token: string } | { readonly refused: SignInRefusal }

export type PersonSignInParts = {
  readonly mutate: AuditedMutation<{ readonly members: MemberStore; readonly sessions: ConsoleSessionStore }>
  readonly sessions: Pick<ConsoleSessions, 'start'>
  /** The organization that people sign in to. */
  readonly organization: () => Promise<Organization>
  /** The role of each group of the identity provider. */
  readonly roleOfGroup: ReadonlyMap<string, RoleName>
  readonly ids: Ids
  readonly clock: Clock
}

/** Signs in a person whom the identity provider has authenticated, as a member of the organization. */
export type SignInPerson = (person: Person, origin: SessionOrigin) => Promise<SignInOutcome>

export function createPersonSignIn(parts: PersonSignInParts): SignInPerson {
  const { mutate, sessions, roleOfGroup, ids, clock } = parts
  return async (person, origin) => {
    const organization = await parts.organization()
    const groupRole = highestRole(person.groups.flatMap((group) => roleOfGroup.get(group) ?? []))
    const actor = { organizationId: organization.id, kind: 'system', credentialId: null, ...origin } as const
    const admitted = await mutate(actor, (stores) =>
      admit(stores, person, { organizationId: organization.id, groupRole }),
    )
    if (typeof admitted === 'string') return { refused: admitted }
    return { token: await sessions.start(administratorOf({ member: admitted }, organization), origin) }
  }

  async function admit(
    { members, sessions: stored }: Parameters<Parameters<typeof mutate>[1]>[0],
    person: Person,
    { organizationId, groupRole }: { readonly organizationId: string; readonly groupRole: RoleName | undefined },
  ): Promise<WithAuditRecord<Member | SignInRefusal>> {
    await members.lockMembers(organizationId)
    const known = await findPerson(members, organizationId, person)
    if (known === undefined) {
      if (groupRole === undefined) return { value: 'not_a_member' }
      const email = await freeEmail(members, organizationId, person)
      const created = newMember({ ...person, email }, organizationId, groupRole)
      await members.insertMember(created)
      return { value: created, record: memberRecord('member.created', created) }
    }
    if (known.suspendedAtMs !== null) return { value: 'suspended' }
    const role = known.roleSource === 'groups' ? groupRole : known.role
    if (role === undefined) {
      // The person has left the groups, so that sessions of before must not go on either.
      await stored.removeSessionsOf(organizationId, known.id)
      return { value: 'not_a_member' }
    }
    const value = { ...known, ...(await identityOf(members, known, person)), role, lastSeenAtMs: clock.nowMs() }
    await members.updateMember(value)
    if (role === known.role) return { value }
    const details = { role, before: { role: known.role } }
    return { value, record: { kind: 'member.updated', resourceId: known.id, details } }
  }

  function newMember({ issuer, subject, email, name }: Person, organizationId: string, role: RoleName): Member {
    const nowMs = clock.nowMs()
    return {
      id: ids('mem'),
      organizationId,
      email,
      issuer,
      subject,
      name: name && shortName(name),
      role,
      roleSource: 'groups',
      createdAtMs: nowMs,
      lastSeenAtMs: nowMs,
      suspendedAtMs: null,
      removedAtMs: null,
    }
  }
}

/** A subject is known for good. A subject or address that was invited is bound to the person at the first sign-in. */
async function findPerson(
  members: MemberStore,
  organizationId: string,
  { issuer, subject, email }: Person,
): Promise<Member | undefined> {
  const bySubject =
    (await members.findBySubject(organizationId, { issuer, subject })) ??
    (await members.findBySubject(organizationId, { issuer: null, subject }))
  if (bySubject !== undefined || email === null) return bySubject
  const byEmail = await members.findByEmail(organizationId, email)
  return byEmail?.subject === null ? byEmail : undefined
}

/** The address stays as it was if another member has the new one. */
async function identityOf(members: MemberStore, known: Member, person: Person) {
  const { issuer, subject, email, name } = person
  const isOwn = email !== null && email === known.email
  const free = isOwn ? email : await freeEmail(members, known.organizationId, person)
  return { issuer, subject, name: name === null ? known.name : shortName(name), email: free ?? known.email }
}

/** The address of the person, unless another member has it. */
async function freeEmail(members: MemberStore, organizationId: string, { email }: Person): Promise<string | null> {
  if (email === null) return null
  return (await members.findByEmail(organizationId, email)) === undefined ? email : null
}

const shortName = (name: string): string => [...name].slice(0, maxNameLength).join('')
