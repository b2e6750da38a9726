import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'

export type CatalogueModel = components['schemas']['CatalogueModel']
export type Upstream = components['schemas']['Upstream']
type UpstreamList = components['schemas']['UpstreamList']

const refreshMs = 5_000

export const upstreamsKey = ['upstreams']

export const useCatalogue = () =>
  useQuery({
    queryKey: ['models'],
    queryFn: async (): Promise<readonly CatalogueModel[]> => (await dataOf(api.GET('/v1/organization/models'))).data,
    staleTime: 60_000,
  })

export const useUpstreams = (isEnabled: boolean) =>
  useQuery({
    queryKey: upstreamsKey,
    queryFn: (): Promise<UpstreamList> => dataOf(api.GET('/v1/organization/upstreams')),
    refetchInterval: refreshMs,
    enabled: isEnabled,
  })
