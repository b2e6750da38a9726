import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useMay, useMe } from '../../session/session.tsx'

export type CatalogueModel = components['schemas']['CatalogueModel']
export type Upstream = components['schemas']['Upstream']
type UpstreamList = components['schemas']['UpstreamList']

const refreshMs = 5_000
const daySeconds = 86_400

export const upstreamsKey = ['upstreams']

/** What a change of an upstream or model makes old. */
export const modelKeys = [upstreamsKey, ['models'], ['overview']]

export const useCatalogue = () =>
  useQuery({
    queryKey: ['models'],
    queryFn: async (): Promise<readonly CatalogueModel[]> => (await dataOf(api.GET('/v1/organization/models'))).data,
    staleTime: 60_000,
  })

/** The upstreams that this person may see: those of the installation, and those of the organization. */
export function useUpstreamList() {
  const mayRead = useMay('system:read')
  const mayWrite = useMay('models:write')
  const { features } = useMe()
  const isShown = (mayRead && features.system) || mayWrite
  const { data: list, ...query } = useQuery({
    queryKey: upstreamsKey,
    queryFn: (): Promise<UpstreamList> => dataOf(api.GET('/v1/organization/upstreams')),
    refetchInterval: refreshMs,
    enabled: isShown,
  })
  return { ...query, list, isShown, hidden: features.system ? ('permission' as const) : ('operator' as const) }
}

/** The models that an upstream offers; none while they are not known. */
export const useOffered = (upstream: string): readonly string[] =>
  useQuery({
    queryKey: ['offered-models', upstream],
    queryFn: async () => {
      const params = { path: { upstream_id: upstream } }
      return (await dataOf(api.GET('/v1/organization/upstreams/{upstream_id}/models', { params }))).models ?? []
    },
    enabled: upstream !== '',
    retry: false,
    staleTime: 30_000,
  }).data ?? []

/** The requests and the cost of a model. */
export type ModelUsage = { readonly requests: number; readonly costUsd: number }

/** Requests and cost of the last 24 hours by the name that callers sent; undefined without the permission. */
export function useModelUsage(): ReadonlyMap<string, ModelUsage> | undefined {
  const mayRead = useMay('usage:read')
  return useQuery({
    queryKey: ['usage', 'models', 'day'],
    queryFn: () => {
      const to = Math.ceil(Date.now() / 1_000)
      const query = {
        start_time: to - daySeconds,
        end_time: to,
        bucket: 'total' as const,
        group_by: ['model' as const],
      }
      return dataOf(api.GET('/v1/organization/usage', { params: { query } }))
    },
    select: ({ data }) => {
      const sums = new Map<string, ModelUsage>()
      for (const { model, requests, cost_usd: cost } of data.flatMap(({ results }) => results)) {
        const { requests: before, costUsd } = sums.get(model ?? '') ?? { requests: 0, costUsd: 0 }
        sums.set(model ?? '', { requests: before + requests, costUsd: costUsd + cost })
      }
      return sums
    },
    enabled: mayRead,
    staleTime: 60_000,
  }).data
}
