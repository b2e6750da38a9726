import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'

export type GatewayConfig = components['schemas']['GatewayConfig']
export type SavedConfig = components['schemas']['SavedGatewayConfig']
export type GatewayBacktest = components['schemas']['GatewayBacktest']

export const useGatewayConfig = (isEnabled: boolean) =>
  useQuery({
    enabled: isEnabled,
    queryKey: ['gateway', 'config'],
    queryFn: (): Promise<SavedConfig> => dataOf(api.GET('/api/policy-gateway/config')),
  })

const progressMs = 500
const replayedRequests = 10_000

/** Replays the last seven days with a configuration, and reads the result as soon as it is there. */
export function useGatewayReplay() {
  const [started, setStarted] = useState<{ readonly id: string; readonly config: GatewayConfig }>()
  const start = useChange({
    send: async (config: GatewayConfig) => {
      const body = { config, limit: replayedRequests }
      const { id } = await dataOf(api.POST('/api/policy-gateway/config/backtest', { body }))
      return { id, config }
    },
    refresh: [['gateway', 'backtests']],
    onDone: setStarted,
  })
  const running = useQuery({
    enabled: started !== undefined,
    queryKey: ['gateway', 'backtest', started?.id],
    queryFn: (): Promise<GatewayBacktest> => {
      const params = { path: { backtest_id: started?.id ?? '' } }
      return dataOf(api.GET('/api/policy-gateway/config/backtest/{backtest_id}', { params }))
    },
    refetchInterval: ({ state }) => (state.data?.status === 'running' || state.data === undefined ? progressMs : false),
  })
  return { start, replayed: started?.config, backtest: running.data, error: start.error ?? running.error }
}

/** Saves the configuration, only if nobody else saved one since it was read. */
export const useSaveGateway = (seen: string | null, onDone: () => void) =>
  useChange({
    send: (body: GatewayConfig): Promise<SavedConfig> =>
      dataOf(api.PUT('/api/policy-gateway/config', { params: { header: { 'If-Match': `"${seen}"` } }, body })),
    refresh: [['gateway'], ['overview']],
    onDone,
  })
