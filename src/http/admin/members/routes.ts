import { findMember, type Members, type MemberStores } from '../../../domain/members/members.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import { roles } from '../../../domain/identity/roles.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { contentTag } from '../../resources/entity-tag.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import * as Schema from './schema.ts'

const path = '/v1/organization/members'
const one = `${path}/{member_id}`
const member = { description: 'The member.', schema: Schema.MemberObject }

/** `/v1/organization/members` and the roles that members have. */
export function memberRoutes({ read, mutation }: AdminRoutes<MemberStores>, members: Members): Route[] {
  return [
    read({
      name: 'listRoles',
      path: '/v1/organization/roles',
      summary: 'List the roles of members and administrator keys',
      description: 'From the highest to the lowest. A person whose groups have several roles gets the highest.',
      params: none,
      query: none,
      answer: { description: 'All roles, with their permissions.', schema: Schema.RoleList },
      operation: async () => presentList({ items: roles, hasMore: false }, Schema.presentRole),
    }),
    read({
      name: 'listMembers',
      path,
      summary: 'List members',
      permission: 'members:read',
      params: none,
      query: Schema.MemberQuery,
      answer: { description: 'A page of members.', schema: Schema.MemberList },
      async operation({ members: store }, { actor, query: { search, role, status, ...query } }) {
        const page = { ...pageOf(query), ...omitUndefined({ search, role, status }) }
        return presentList(await store.listMembers(actor.organization.id, page), Schema.presentMember)
      },
    }),
    mutation({
      name: 'createMember',
      method: 'POST',
      path,
      summary: 'Invite a member',
      description:
        'The person signs in through the identity provider (`console.oidc`); no message is sent. A role with permissions that the caller lacks is rejected.',
      permission: 'members:write',
      params: none,
      query: none,
      body: Schema.CreateMember,
      status: 201,
      answer: member,
      operation: (stores, { actor, body }) => members.invite(stores, authorityOf(actor), body),
      present: Schema.presentMember,
    }),
    read({
      name: 'getMember',
      path: one,
      summary: 'Read a member',
      permission: 'members:read',
      params: Schema.MemberParams,
      query: none,
      answer: member,
      tag: contentTag,
      operation: async ({ members: store }, { actor, params }) =>
        Schema.presentMember(await findMember(store, actor.organization.id, params.member_id)),
    }),
    mutation({
      name: 'updateMember',
      method: 'PATCH',
      path: one,
      summary: 'Change the role of a member, or suspend the member',
      description:
        'Fields that are left out stay as they are. The last owner cannot be suspended or get a lower role; administrator keys with the permission `*` count as owners. A role that comes from groups is changed at the identity provider.',
      permission: 'members:write',
      params: Schema.MemberParams,
      query: none,
      body: Schema.UpdateMember,
      answer: member,
      operation: (stores, { actor, params, body: { name, role, status } }) =>
        members.update(
          stores,
          { ...authorityOf(actor), id: params.member_id },
          { name, role, isSuspended: status && status === 'suspended' },
        ),
      present: Schema.presentMember,
    }),
    mutation({
      name: 'deleteMember',
      method: 'DELETE',
      path: one,
      summary: 'Remove a member',
      description:
        'Ends the sessions of the member at once, on other nodes within a second. A person who has a role by groups becomes a member again at the next sign-in: suspend the member instead. Keys that the member created stay.',
      permission: 'members:write',
      params: Schema.MemberParams,
      query: none,
      body: none,
      answer: { description: 'The id of the removed member.', schema: Schema.DeletedMember },
      operation: (stores, { actor, params }) => members.remove(stores, { ...authorityOf(actor), id: params.member_id }),
      present: ({ id }) => ({ id, object: 'organization.member.deleted', deleted: true }),
    }),
  ]
}

const authorityOf = ({ organization, permissions }: Administrator) => ({
  organizationId: organization.id,
  by: permissions,
})
