import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import { useChange } from '../../api/use-change.ts'
import { definedOf, useList } from '../../api/use-list.ts'
import type { AuditSearch } from './search.ts'

export type AuditEvent = components['schemas']['AuditEvent']

/** The filter of the list as the API names it. Requests have a page of their own. */
export const filterOf = (search: AuditSearch) => ({
  kind: search.event_kind,
  actor_id: search.actor_id,
  policy_id: search.policy_id,
  project_id: search.project_id,
  resource_id: search.resource_id,
  without_requests: true,
  without_checkpoints: search.checkpoints === true || search.event_kind === 'audit.checkpoint' ? undefined : true,
})

/** Pages of events that are no requests, newest first. */
export function useEvents(search: AuditSearch) {
  const range = useTimeRangeSearch()
  const filter = filterOf(search)
  return useList<AuditEvent>(['audit', range, filter], (after, signal) => {
    const { from, to } = timeRangeOf(range, Date.now())
    const query = definedOf({ ...filter, from, to, limit: 100, after })
    return dataOf(api.GET('/v1/organization/audit_logs', { params: { query }, signal }))
  })
}

export const useEvent = (eventId: string) =>
  useQuery({
    queryKey: ['audit', 'event', eventId],
    queryFn: (): Promise<AuditEvent> =>
      dataOf(api.GET('/v1/organization/audit_logs/{event_id}', { params: { path: { event_id: eventId } } })),
  })

export type Verification = components['schemas']['AuditVerification']

const verificationsKey = ['audit', 'verifications']
const progressMs = 1_000

/** The last verifications, newest first. Loaded again each second while one runs. */
export const useVerifications = () =>
  useQuery({
    queryKey: verificationsKey,
    queryFn: () => dataOf(api.GET('/v1/organization/audit_logs/verify', { params: { query: { limit: 5 } } })),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ state: own }) => own === 'running') === true ? progressMs : false,
  })

export const useStartVerification = () =>
  useChange({
    send: () => dataOf(api.POST('/v1/organization/audit_logs/verify', { body: {} })),
    refresh: [verificationsKey],
  })

/** The oldest and the newest object of the archive; null if there is none. */
export const useArchive = () =>
  useQuery({
    queryKey: ['audit', 'archive'],
    queryFn: async () => {
      const [[first], [last]] = await Promise.all([archived('asc'), archived('desc')])
      return first && last ? { first, last } : null
    },
  })

const archived = async (order: 'asc' | 'desc') =>
  (await dataOf(api.GET('/v1/organization/audit_logs/archive', { params: { query: { limit: 1, order } } }))).data

export const useCheckpointKeys = () =>
  useQuery({ queryKey: ['audit', 'keys'], queryFn: () => dataOf(api.GET('/v1/organization/audit_logs/keys')) })
