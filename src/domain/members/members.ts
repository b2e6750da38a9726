import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { changedValues, type AuditRecord, type WithAuditRecord } from '../mutations/audit-log.ts'
import { requireName } from '../identity/bounds.ts'
import { requireGrantable } from '../identity/key-authority.ts'
import type { Member, MemberStore } from './member-store.ts'
import { holds, type Permission } from '../identity/permissions.ts'
import { permissionsOf, type RoleName } from '../identity/roles.ts'
import type { DirectoryStore } from '../identity/store.ts'

export type NewMember = {
  readonly email?: string | undefined
  readonly subject?: string | undefined
  readonly name?: string | undefined
  readonly role: RoleName
}

/** Fields that are left out stay as they are. */
export type MemberUpdate = {
  readonly name?: string | null | undefined
  readonly role?: RoleName | undefined
  readonly isSuspended?: boolean | undefined
}

/** The stores of one transaction. */
export type MemberStores = {
  readonly members: MemberStore
  readonly directory: Pick<DirectoryStore, 'hasOtherOwner'>
}

/** Who changes members: an administrator of the organization, within these permissions. */
export type MemberAuthority = { readonly organizationId: string; readonly by: ReadonlySet<Permission> }

export type Members = ReturnType<typeof createMembers>

/** Invites, changes and removes members. Each operation returns its audit record. */
export function createMembers({ ids, clock }: { readonly ids: Ids; readonly clock: Clock }) {
  return {
    async invite(
      { members }: MemberStores,
      { organizationId, by }: MemberAuthority,
      { email: address, subject, name, role }: NewMember,
    ): Promise<WithAuditRecord<Member>> {
      requireGrantable(by, permissionsOf(role), 'role')
      if ((address === undefined) === (subject === undefined)) throw invalid('email', 'send either email or subject')
      if (name !== undefined) requireName(name)
      const email = address === undefined ? null : readEmail(address)
      await members.lockMembers(organizationId)
      await requireNew(members, organizationId, { email, subject })
      const value: Member = {
        id: ids('mem'),
        organizationId,
        email,
        issuer: null,
        subject: subject ?? null,
        name: name ?? null,
        role,
        roleSource: 'invitation',
        createdAtMs: clock.nowMs(),
        lastSeenAtMs: null,
        suspendedAtMs: null,
        removedAtMs: null,
      }
      await members.insertMember(value)
      return { value, record: memberRecord('member.created', value) }
    },

    async update(
      stores: MemberStores,
      { id, ...authority }: MemberAuthority & { readonly id: string },
      { name, role, isSuspended }: MemberUpdate,
    ): Promise<WithAuditRecord<Member>> {
      const before = await locked(stores, authority, id)
      if (role !== undefined && role !== before.role) {
        requireGrantable(authority.by, permissionsOf(role), 'role')
        if (before.roleSource === 'groups') throw roleFromGroups(id)
      }
      // Lifting a suspension grants the role again, so the caller must be allowed to grant it.
      if (before.suspendedAtMs !== null && isSuspended === false)
        requireGrantable(authority.by, permissionsOf(role ?? before.role), 'status')
      if (name !== undefined && name !== null) requireName(name)
      const after: Member = {
        ...before,
        name: name === undefined ? before.name : name,
        role: role ?? before.role,
        suspendedAtMs: suspension(before, isSuspended, clock.nowMs()),
      }
      const [old, now] = [auditedFields(before), auditedFields(after)]
      const details = changedValues(old, now)
      if (Object.keys(details).length === 0) return { value: before }
      if (after.role !== 'owner' || after.suspendedAtMs !== null) await requireOwnerLeft(stores, before)
      await stores.members.updateMember(after)
      return { value: after, record: { kind: 'member.updated', resourceId: id, details } }
    },

    /** The member's sessions end with the commit. */
    async remove(
      stores: MemberStores,
      { id, ...authority }: MemberAuthority & { readonly id: string },
    ): Promise<WithAuditRecord<Member>> {
      const before = await locked(stores, authority, id)
      await requireOwnerLeft(stores, before)
      const value = { ...before, removedAtMs: clock.nowMs() }
      await stores.members.updateMember(value)
      return { value, record: memberRecord('member.removed', value) }
    },
  }

  async function locked(
    { members }: MemberStores,
    { organizationId, by }: MemberAuthority,
    id: string,
  ): Promise<Member> {
    await members.lockMembers(organizationId)
    const member = await findMember(members, organizationId, id)
    if (member.role === 'owner' && !holds(by, '*'))
      throw new Fault(
        'permission',
        'permission_denied',
        'This credential lacks the permission * and cannot change or remove an owner.',
      )
    return member
  }

  /** An administrator key with `*` that works everywhere and for ever counts as an owner, too. */
  async function requireOwnerLeft({ members, directory }: MemberStores, member: Member): Promise<void> {
    const { id, organizationId, role, suspendedAtMs, lastSeenAtMs } = member
    if (role !== 'owner' || suspendedAtMs !== null || lastSeenAtMs === null) return
    if (await members.hasOtherOwner(organizationId, id)) return
    if (await directory.hasOtherOwner({ id, organizationId, expiresAtMs: null, allowedIps: null }, clock.nowMs()))
      return
    throw new Fault(
      'conflict',
      'last_owner',
      `${id} is the last owner of the organization. Make another member an owner first, or create an administrator key with the permission *.`,
    )
  }
}

export async function findMember(
  members: Pick<MemberStore, 'findMember'>,
  organizationId: string,
  id: string,
): Promise<Member> {
  const member = await members.findMember(organizationId, id)
  if (member) return member
  throw new Fault('not_found', 'not_found', `There is no member ${id}.`)
}

export const memberRecord = (kind: AuditRecord['kind'], member: Member): AuditRecord => ({
  kind,
  resourceId: member.id,
  details: { ...auditedFields(member), role_source: member.roleSource },
})

const auditedFields = ({ email, subject, name, role, suspendedAtMs }: Member): AuditRecord['details'] => ({
  email,
  subject,
  name,
  role,
  suspended: suspendedAtMs !== null,
})

function suspension({ suspendedAtMs }: Member, isSuspended: boolean | undefined, nowMs: number): number | null {
  if (isSuspended === undefined) return suspendedAtMs
  return isSuspended ? (suspendedAtMs ?? nowMs) : null
}

type Person = { readonly email: string | null; readonly subject: string | undefined }

async function requireNew(store: MemberStore, organizationId: string, { email, subject }: Person): Promise<void> {
  const known =
    email === null
      ? subject !== undefined && (await store.findBySubject(organizationId, { subject }))
      : await store.findByEmail(organizationId, email)
  if (!known) return
  const param = email === null ? 'subject' : 'email'
  throw new Fault('conflict', 'member_exists', `${param}: the member ${known.id} has it already.`, { param })
}

/** The longest address of RFC 5321. */
export const maxEmailLength = 254

const emailPattern = /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u

/** Addresses are compared in lower case, as identity providers do. */
export const foldEmail = (address: string): string => address.trim().toLowerCase()

function readEmail(address: string): string {
  const email = foldEmail(address)
  if (emailPattern.test(email) && email.length <= maxEmailLength) return email
  throw invalid('email', 'must be an email address such as ada@example.com')
}

const invalid = (param: string, message: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${message}`, { param })

const roleFromGroups = (id: string): Fault =>
  new Fault(
    'conflict',
    'invalid_state',
    `The role of ${id} comes from groups of the identity provider. Change the groups there, or remove the member and invite the person with a role.`,
    { param: 'role' },
  )
