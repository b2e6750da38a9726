import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'

export type SavedConfig = components['schemas']['SavedGatewayConfig']
export type GatewayConfig = components['schemas']['GatewayConfig']
export type ConfigVersion = components['schemas']['GatewayConfigVersion']
export type Simulation = components['schemas']['Simulation']

const configKey = ['gateway', 'config']

/** What a save makes old. */
export const gatewayKeys = [['gateway'], ['overview']]

export const useSavedConfig = () =>
  useQuery({
    queryKey: configKey,
    queryFn: (): Promise<SavedConfig> => dataOf(api.GET('/api/policy-gateway/config')),
  })

export type DecisionHour = components['schemas']['DecisionCounts']['data'][number]

/** What the configuration decided in the last seven days, by hour and version. */
export const useDecisions = () =>
  useQuery({
    queryKey: ['gateway', 'decisions'],
    queryFn: (): Promise<components['schemas']['DecisionCounts']> =>
      dataOf(api.GET('/v1/organization/gateway/decisions')),
    refetchInterval: 10_000,
  })

export const useVersions = () =>
  useQuery({
    queryKey: ['gateway', 'versions'],
    queryFn: async (): Promise<readonly ConfigVersion[]> =>
      (await dataOf(api.GET('/api/policy-gateway/config/versions', { params: { query: { limit: 100 } } }))).data,
  })

export type Scenario = { readonly text: string; readonly direction: 'request' | 'response' }

/** What this configuration would decide. The judge model is not called, because it costs with every change of a letter. */
export const useSimulation = (config: GatewayConfig, scenario: Scenario) =>
  useQuery({
    queryKey: ['gateway', 'simulate', config, scenario],
    queryFn: ({ signal }): Promise<Simulation> => {
      const body = { config, scenario: { ...scenario }, judge: false }
      return dataOf(api.POST('/api/policy-gateway/simulate', { body, signal }))
    },
    enabled: scenario.text !== '',
    placeholderData: keepPreviousData,
    retry: false,
  })
