import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'

export type Appeal = components['schemas']['Appeal']
export type Label = components['schemas']['AppealLabel']
export type Answer = Label['should']
export type Review = components['schemas']['AppealReview']
export type Resolution = components['schemas']['AppealResolution']
export type Outcome = Resolution['outcome']
export type Policy = components['schemas']['Policy']
export type AppealedRequest = components['schemas']['RequestDetail']

const appealsKey = ['appeals'] as const
const listKey = [...appealsKey, 'list'] as const
const shownAppeals = 100

/** The appeals of the queue, the oldest first, so that none expires unseen. */
export const useAppeals = (show: 'open' | 'all') =>
  useQuery({
    queryKey: [...listKey, show],
    queryFn: async (): Promise<readonly Appeal[]> => {
      const page = { limit: shownAppeals, order: show === 'open' ? 'asc' : 'desc' } as const
      const query = show === 'open' ? { ...page, state: 'open' as const } : page
      return (await dataOf(api.GET('/v1/organization/appeals', { params: { query } }))).data
    },
  })

type Shown = { readonly hasTexts: boolean; readonly isBlind: boolean }

/** One appeal. Each read of a text is an event of the audit log, so it is not repeated when the window gets the focus. */
export const useAppeal = (id: string, { hasTexts, isBlind }: Shown) =>
  useQuery({
    queryKey: [...appealsKey, id, hasTexts, isBlind],
    queryFn: (): Promise<Appeal> => {
      const query = { blind: isBlind, ...(hasTexts && { include: 'content' as const }) }
      return dataOf(api.GET('/v1/organization/appeals/{appeal_id}', { params: { path: { appeal_id: id }, query } }))
    },
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })

/**
 * Shows the appeal as the server answered, with the text that is known already: a further read of the text would be another
 * event of the audit log.
 */
function useShowAnswer(): (answer: Appeal) => void {
  const client = useQueryClient()
  return (answer) =>
    client.setQueriesData<Appeal>(
      { queryKey: [...appealsKey, answer.id] },
      (known) => known && { ...answer, text: known.text },
    )
}

export function useReview(id: string, onDone: () => void) {
  const show = useShowAnswer()
  return useChange({
    send: (body: Review): Promise<Appeal> =>
      dataOf(api.POST('/v1/organization/appeals/{appeal_id}/review', { params: { path: { appeal_id: id } }, body })),
    refresh: [listKey],
    onDone: (answer) => {
      show(answer)
      onDone()
    },
  })
}

export function useResolve(id: string, onDone: (appeal: Appeal) => void) {
  const show = useShowAnswer()
  return useChange({
    send: (body: Resolution): Promise<Appeal> =>
      dataOf(api.POST('/v1/organization/appeals/{appeal_id}/resolve', { params: { path: { appeal_id: id } }, body })),
    refresh: [listKey, ['policy'], ['overview']],
    refreshesOnError: true, // the draft has another revision then
    onDone: (answer) => {
      show(answer)
      onDone(answer)
    },
  })
}

/** Whose request it is. The page of requests has the same query. */
export const useAppealedRequest = (requestId: string | null, mayRead: boolean) =>
  useQuery({
    queryKey: ['request', requestId],
    queryFn: (): Promise<AppealedRequest> => {
      const params = { path: { request_id: requestId ?? '' } }
      return dataOf(api.GET('/v1/organization/requests/{request_id}', { params }))
    },
    enabled: mayRead && requestId !== null,
  })

/** The policy whose draft is changed. The pages of policies have the same query. */
export const usePolicy = (policyId: string, isNeeded: boolean) =>
  useQuery({
    queryKey: ['policy', policyId],
    queryFn: (): Promise<Policy> => {
      const params = { path: { policy_id: policyId } }
      return dataOf(api.GET('/v1/organization/policies/{policy_id}', { params }))
    },
    enabled: isNeeded,
  })
