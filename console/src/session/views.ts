import { useQuery } from '@tanstack/react-query'
import { defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router'
import { api, dataOf } from '../api/client.ts'
import type { components } from '../api/schema.d.ts'
import { useChange } from '../api/use-change.ts'

export type SavedView = components['schemas']['View']
export type NewView = components['schemas']['ViewCreate']

const key = (page: SavedView['page']) => ['views', page] as const

/** The views of a page that this person saved, and those that others share. */
export const useViews = (page: SavedView['page']) =>
  useQuery({
    queryKey: key(page),
    queryFn: async (): Promise<readonly SavedView[]> =>
      (await dataOf(api.GET('/v1/organization/views', { params: { query: { page, limit: 100, order: 'asc' } } }))).data,
    staleTime: 60_000,
  })

export const useCreateViews = (page: SavedView['page'], onDone: () => void) =>
  useChange({
    send: async (views: readonly Omit<NewView, 'page'>[]) => {
      for (const view of views) await api.POST('/v1/organization/views', { body: { ...view, page } })
    },
    refresh: [key(page)],
    onDone,
  })

export const useRenameView = (page: SavedView['page'], onDone: () => void) =>
  useChange({
    send: ({ id, name }: Pick<SavedView, 'id' | 'name'>) =>
      api.PATCH('/v1/organization/views/{view_id}', { params: { path: { view_id: id } }, body: { name } }),
    refresh: [key(page)],
    onDone,
  })

export const useDeleteView = (page: SavedView['page']) =>
  useChange({
    send: (id: string) => api.DELETE('/v1/organization/views/{view_id}', { params: { path: { view_id: id } } }),
    refresh: [key(page)],
  })

/** The state of a page as a view keeps it: its parameters in order, without those that are not set. */
export function queryOfView(search: object): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined)
  const inOrder = given.toSorted(([one], [other]) => (one < other ? -1 : 1))
  return defaultStringifySearch(Object.fromEntries(inOrder)).replace(/^\?/, '')
}

export const searchOfView = ({ query }: Pick<SavedView, 'query'>): Record<string, unknown> =>
  defaultParseSearch(`?${query}`)
