import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'

export type Overview = components['schemas']['Overview']

const refreshMs = 10_000

export const useOverview = () =>
  useQuery({
    queryKey: ['overview'],
    queryFn: (): Promise<Overview> => dataOf(api.GET('/v1/organization/overview')),
    refetchInterval: refreshMs,
  })
