import Type, { type Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import { maxNameLength } from '../../../domain/identity/bounds.ts'
import { memberStatuses, roleSources, statusOf, type Member } from '../../../domain/members/member-store.ts'
import { maxEmailLength } from '../../../domain/members/members.ts'
import { permissions } from '../../../domain/identity/permissions.ts'
import { roleNames, roles, type Role } from '../../../domain/identity/roles.ts'
import { text } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, nameSearch, pageExample } from '../../resources/list.ts'

const exampleId = 'mem_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const MemberParams = Type.Object({ member_id: idText('The member.', exampleId) })

export const MemberQuery = listQuery({
  search: nameSearch,
  role: Type.Optional(Type.Enum([...roleNames], { description: 'Only members with this role.' })),
  status: Type.Optional(Type.Enum([...memberStatuses], { description: 'Only members with this status.' })),
})

const memberName = Type.String({
  minLength: 1,
  maxLength: maxNameLength,
  description: 'The name of the person. Each sign-in replaces it by the name that the identity provider sends, if any.',
  examples: ['Ada Lovelace'],
})

/** The role of a member or of a new administrator key. */
const roleName = (description: string) => Type.Enum([...roleNames], { description })

export const CreateMember = Type.Object(
  {
    email: Type.Optional(
      Type.String({
        minLength: 3,
        maxLength: maxEmailLength,
        description:
          'The address that the identity provider has verified for the person. Upper and lower case are the same. Send either `email` or `subject`.',
        examples: ['ada@example.com'],
      }),
    ),
    subject: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: '^[^\\u0000]*$',
        description: 'The `sub` of the person at the identity provider.',
        examples: ['00u1a2b3c4d5e6f7g8h9'],
      }),
    ),
    name: Type.Optional(memberName),
    role: roleName('What the person may do; `GET /v1/organization/roles` lists the permissions of each role.'),
  },
  {
    title: 'MemberCreate',
    additionalProperties: false,
    examples: [{ email: 'ada@example.com', name: 'Ada Lovelace', role: 'auditor' }],
  },
)

export const UpdateMember = Type.Object(
  {
    name: Type.Optional(orNull(memberName)),
    role: Type.Optional(roleName('The new role. It takes effect at once, also for sessions that are open.')),
    status: Type.Optional(
      Type.Enum(['active', 'suspended'], {
        description: '`suspended` ends the sessions of the member and rejects sign-ins. `active` admits them again.',
      }),
    ),
  },
  { title: 'MemberUpdate', additionalProperties: false, examples: [{ role: 'auditor' }] },
)

const example = {
  id: exampleId,
  object: 'organization.member',
  email: 'ada@example.com',
  subject: null,
  name: 'Ada Lovelace',
  role: 'auditor',
  role_source: 'invitation',
  status: 'invited',
  created_at: 1_767_225_600,
  last_seen_at: null,
}

export const MemberObject = Type.Object(
  {
    id: text('The id of the member.'),
    object: Type.Literal('organization.member'),
    email: orNull(Type.String(), 'The email address; null if the person is known by subject only.'),
    subject: orNull(Type.String(), 'The `sub` at the identity provider; null before the first sign-in.'),
    name: orNull(Type.String(), 'The name of the person; null if it is not known.'),
    role: roleName('What the member may do.'),
    role_source: Type.Enum([...roleSources], {
      description:
        '`invitation`: an administrator gave the role. `groups`: it comes from groups of the identity provider, at each sign-in.',
    }),
    status: Type.Enum([...memberStatuses], { description: '`invited`: the person has not signed in yet.' }),
    created_at: unixTime('When the member was invited, or signed in for the first time.'),
    last_seen_at: orNull(unixTime('Time of the last use, to the minute; null before the first sign-in.')),
  },
  { title: 'Member', examples: [example] },
)

export const MemberList = listOf('MemberList', MemberObject, pageExample(example))

export const DeletedMember = Type.Object(
  {
    id: text('The member that was removed.'),
    object: Type.Literal('organization.member.deleted'),
    deleted: Type.Literal(true),
  },
  { title: 'MemberDeleted', examples: [{ id: exampleId, object: 'organization.member.deleted', deleted: true }] },
)

export const presentMember = (member: Member): Static<typeof MemberObject> => ({
  id: member.id,
  object: 'organization.member',
  email: member.email,
  subject: member.subject,
  name: member.name,
  role: member.role,
  role_source: member.roleSource,
  status: statusOf(member),
  created_at: toUnixSeconds(member.createdAtMs),
  last_seen_at: member.lastSeenAtMs === null ? null : toUnixSeconds(member.lastSeenAtMs),
})

const RoleObject = Type.Object(
  {
    id: roleName('The name of the role.'),
    object: Type.Literal('organization.role'),
    description: text('What the role is for.'),
    permissions: Type.Array(Type.Enum([...permissions]), { description: 'What it allows; `*` includes everything.' }),
  },
  { title: 'Role' },
)

export const presentRole = ({ id, description, permissions: allowed }: Role): Static<typeof RoleObject> => ({
  id,
  object: 'organization.role',
  description,
  permissions: [...allowed],
})

export const RoleList = listOf('RoleList', RoleObject, pageExample(...roles.slice(0, 2).map(presentRole)))

export type MemberBody = Static<typeof MemberObject>
