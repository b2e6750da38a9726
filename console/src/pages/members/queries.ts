import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'
import { definedOf, useList } from '../../api/use-list.ts'
import type { MembersSearch } from './search.ts'

export type Member = components['schemas']['Member']
export type SignIn = components['schemas']['SignIn']
export type NewMember = components['schemas']['MemberCreate']
type MemberUpdate = components['schemas']['MemberUpdate']

export const membersPath = '/v1/organization/members'
export const signInsPath = '/v1/organization/sign_ins'

/** The name, or what else the person is known by. */
export const nameOf = ({ name, email, subject, id }: Member): string => name ?? email ?? subject ?? id

const pageSize = 100

export const useMembers = ({ search, role, status }: MembersSearch) =>
  useList<Member>(['members', { search, role, status }], (after, signal) => {
    const query = definedOf({ search, role, status, after, limit: pageSize })
    return dataOf(api.GET('/v1/organization/members', { params: { query }, signal }))
  })

export const useSignIns = () =>
  useList<SignIn>(['sign_ins'], (after, signal) => {
    const query = definedOf({ after, limit: pageSize })
    return dataOf(api.GET('/v1/organization/sign_ins', { params: { query }, signal }))
  })

export const useRoles = () =>
  useQuery({ queryKey: ['roles'], queryFn: () => dataOf(api.GET('/v1/organization/roles')), staleTime: Infinity })

const lists = [['members'], ['sign_ins'], ['me']]

export const useInvite = (onDone: () => void) =>
  useChange({
    refresh: lists,
    onDone,
    send: (body: NewMember): Promise<unknown> => api.POST('/v1/organization/members', { body }),
  })

export const useUpdateMember = ({ id }: Member, onDone: () => void) =>
  useChange({
    refresh: lists,
    onDone,
    send: (body: MemberUpdate): Promise<unknown> =>
      api.PATCH('/v1/organization/members/{member_id}', { params: { path: { member_id: id } }, body }),
  })

export const useRemoveMember = ({ id }: Member, onDone: () => void) =>
  useChange({
    refresh: lists,
    onDone,
    send: (): Promise<unknown> =>
      api.DELETE('/v1/organization/members/{member_id}', { params: { path: { member_id: id } } }),
  })

export const useEndSignIn = ({ id }: SignIn, onDone: () => void) =>
  useChange({
    refresh: lists,
    onDone,
    send: (): Promise<unknown> =>
      api.DELETE('/v1/organization/sign_ins/{sign_in_id}', { params: { path: { sign_in_id: id } } }),
  })
