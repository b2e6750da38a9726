import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { useDebounced } from '../kit/use-debounced.ts'
import { words } from '../words/en.ts'
import { keyLink } from '../session/attention.ts'
import type { Command } from './commands.ts'
import { useMay } from '../session/session.tsx'

type Named = { readonly id: string; readonly name: string }
type Finder = {
  readonly mayRead: boolean
  readonly load: (search: string, signal: AbortSignal) => Promise<{ readonly data: readonly Named[] }>
  readonly commandOf: (found: Named) => Omit<Command, 'id' | 'name'>
}

const shown = 5
const shortest = 2
const kinds = words.shell.kinds

/** Policies, projects, keys and budgets whose name contains the query, as far as the signed-in administrator may see them. */
export function useFoundNames(query: string): { readonly commands: readonly Command[]; readonly isSearching: boolean } {
  const wanted = query.trim()
  const search = useDebounced(wanted)
  const isLongEnough = search.length >= shortest
  const finders = useFinders()
  const found = useQuery({
    queryKey: ['found_names', search],
    queryFn: async ({ signal }): Promise<readonly Command[]> => {
      const permitted = finders.filter(({ mayRead }) => mayRead)
      const lists = await Promise.all(permitted.map((finder) => commandsOf(finder, search, signal)))
      return lists.flat()
    },
    enabled: isLongEnough,
    placeholderData: keepPreviousData,
  })
  const isNewer = search !== wanted && wanted.length >= shortest
  return {
    commands: isLongEnough && wanted.length >= shortest ? (found.data ?? []) : [],
    isSearching: isNewer || found.isFetching,
  }
}

async function commandsOf({ load, commandOf }: Finder, search: string, signal: AbortSignal): Promise<Command[]> {
  const { data } = await load(search, signal)
  return data.map(({ id, name }) => ({ id, name, ...commandOf({ id, name }) }))
}

function useFinders(): readonly Finder[] {
  const query = (search: string) => ({ query: { search, limit: shown } })
  return [
    {
      mayRead: useMay('policies:read'),
      load: (search, signal) => dataOf(api.GET('/v1/organization/policies', { params: query(search), signal })),
      commandOf: ({ id }) => ({
        hint: kinds.policy,
        icon: 'policies',
        target: { to: '/policies/$policyId', params: { policyId: id } },
      }),
    },
    {
      mayRead: useMay('projects:read'),
      load: (search, signal) => dataOf(api.GET('/v1/organization/projects', { params: query(search), signal })),
      commandOf: ({ id }) => ({
        hint: kinds.project,
        icon: 'key',
        target: { to: '/projects', search: { project_id: id } },
      }),
    },
    {
      mayRead: useMay('keys:read'),
      load: (search, signal) => dataOf(api.GET('/v1/organization/api_keys', { params: query(search), signal })),
      commandOf: ({ id }) => ({ hint: kinds.apiKey, icon: 'key', target: keyLink(id) }),
    },
    {
      mayRead: useMay('keys:read'),
      load: (search, signal) => dataOf(api.GET('/v1/organization/admin_api_keys', { params: query(search), signal })),
      commandOf: ({ id }) => ({ hint: kinds.adminKey, icon: 'key', target: keyLink(id) }),
    },
    {
      mayRead: useMay('budgets:read'),
      load: (search, signal) => dataOf(api.GET('/v1/organization/budgets', { params: query(search), signal })),
      commandOf: ({ id }) => ({
        hint: kinds.budget,
        icon: 'costs',
        target: { to: '/costs', search: { view: 'budgets', budget: id } },
      }),
    },
  ]
}
