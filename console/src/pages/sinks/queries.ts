import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { sinkKindsIn, type SinkKind } from './sink-schema.ts'

export type Sink = components['schemas']['ExportSink']
export type DeadLetter = components['schemas']['DeadLetter']

const refreshMs = 10_000
const listKey = ['sinks']
const lettersKey = (id: string) => ['sinks', 'dead_letters', id]

/** What a change of a sink makes old. */
export const sinkKeys = [listKey, ['overview']]

export const useSinks = () =>
  useQuery({
    queryKey: listKey,
    queryFn: async (): Promise<readonly Sink[]> =>
      (await dataOf(api.GET('/api/policy-gateway/exports', { params: { query: { limit: 100 } } }))).data,
    refetchInterval: refreshMs,
  })

export const useDeadLetters = ({ id, health }: Sink) =>
  useQuery({
    queryKey: lettersKey(id),
    queryFn: async (): Promise<readonly DeadLetter[]> => {
      const params = { path: { export_id: id }, query: { limit: 100 } }
      return (await dataOf(api.GET('/api/policy-gateway/exports/{export_id}/dead_letters', { params }))).data
    },
    enabled: health.dead_letters > 0,
    refetchInterval: refreshMs,
  })

/** The kinds of sinks with the schema of their configuration, as the OpenAPI description of this server has them. */
export const useSinkKinds = () =>
  useQuery({
    queryKey: ['openapi', 'sink_kinds'],
    queryFn: async (): Promise<readonly SinkKind[]> => sinkKindsIn(await dataOf(api.GET('/openapi.json'))),
    staleTime: Infinity,
  })
