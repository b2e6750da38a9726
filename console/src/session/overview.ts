import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import type { components } from '../api/schema.d.ts'
import { useMay } from './session.tsx'

export type Overview = components['schemas']['Overview']

const refreshMs = 10_000
/** While somebody waits for the first request. */
const waitingMs = 2_000

/** How the service does. The page and the bell of the top bar share it. */
export const useOverview = () =>
  useQuery({
    queryKey: ['overview'],
    queryFn: (): Promise<Overview> => dataOf(api.GET('/v1/organization/overview')),
    refetchInterval: ({ state: { data } }) => (data?.first_steps?.request_id === null ? waitingMs : refreshMs),
    enabled: useMay('audit:read'),
  })
