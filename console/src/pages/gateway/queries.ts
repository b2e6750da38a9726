import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'
import { useList } from '../../api/use-list.ts'

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

export type GatewayCase = components['schemas']['GatewayCase']
export type CaseCreate = components['schemas']['GatewayCaseCreate']
export type CaseResult = components['schemas']['GatewayCaseResult']

const casesKey = ['gateway', 'cases']
const casePath = (id: string) => ({ path: { case_id: id } })

/** The cases of the configuration, the newest first. */
export const useCases = () =>
  useList<GatewayCase>(casesKey, (after) =>
    dataOf(
      api.GET('/api/policy-gateway/config/cases', {
        params: { query: { limit: 100, ...(after !== undefined && { after }) } },
      }),
    ),
  )

/** Runs all cases with a configuration that need not be saved. */
export const useRunCases = () =>
  useChange({
    send: (config: GatewayConfig): Promise<components['schemas']['GatewayCaseRun']> =>
      dataOf(api.POST('/api/policy-gateway/config/cases/run', { body: { config } })),
    refresh: [],
  })

/** Adds a case, or changes the stored one at the revision that is on the screen. */
export const useSaveCase = (stored: GatewayCase | undefined, onDone: () => void) =>
  useChange({
    send: (body: CaseCreate): Promise<GatewayCase> =>
      stored === undefined
        ? dataOf(api.POST('/api/policy-gateway/config/cases', { body }))
        : dataOf(
            api.PATCH('/api/policy-gateway/config/cases/{case_id}', {
              params: casePath(stored.id),
              body: { ...body, revision: stored.revision },
            }),
          ),
    refresh: [casesKey],
    onDone,
  })

export const useDeleteCase = (onDone: () => void) =>
  useChange({
    send: (id: string) => dataOf(api.DELETE('/api/policy-gateway/config/cases/{case_id}', { params: casePath(id) })),
    refresh: [casesKey],
    onDone,
  })

export type GatewayBacktest = components['schemas']['GatewayBacktest']
export type BacktestCreate = components['schemas']['GatewayBacktestCreate']

const backtestsKey = ['gateway', 'backtests']
const progressMs = 1_000

/** The backtests of configurations, newest first. Loaded again each second while one runs. */
export const useBacktests = () =>
  useQuery({
    queryKey: backtestsKey,
    queryFn: (): Promise<components['schemas']['GatewayBacktestList']> =>
      dataOf(api.GET('/api/policy-gateway/config/backtest')),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ status }) => status === 'running') === true ? progressMs : false,
  })

export const useStartBacktest = () =>
  useChange({
    send: (body: BacktestCreate): Promise<GatewayBacktest> =>
      dataOf(api.POST('/api/policy-gateway/config/backtest', { body })),
    refresh: [backtestsKey],
  })

export const useCancelBacktest = () =>
  useChange({
    send: (id: string): Promise<GatewayBacktest> =>
      dataOf(
        api.POST('/api/policy-gateway/config/backtest/{backtest_id}/cancel', {
          params: { path: { backtest_id: id } },
        }),
      ),
    refresh: [backtestsKey],
  })
