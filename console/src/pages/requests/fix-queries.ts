import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'

export type Policy = components['schemas']['Policy']
export type Backtest = components['schemas']['Backtest']
/** What the fix replaces in the draft of the policy. */
export type PolicyChanges = NonNullable<components['schemas']['BacktestCreate']['changes']>

const pathOf = (policyId: string) => ({ path: { policy_id: policyId } })
const keyOf = (policyId: string) => ['policy', policyId]

/** The policy that denied the request. */
export const useDecidingPolicy = (policyId: string, isEnabled: boolean) =>
  useQuery({
    enabled: isEnabled,
    queryKey: [...keyOf(policyId), 'current'],
    queryFn: (): Promise<Policy> =>
      dataOf(api.GET('/v1/organization/policies/{policy_id}', { params: pathOf(policyId) })),
  })

const progressMs = 500
const replayedRequests = 10_000

/** Replays the last seven days with the changes, and reads the result as soon as it is there. */
export function useReplay(policyId: string) {
  const [started, setStarted] = useState<{ readonly id: string; readonly changes: PolicyChanges }>()
  const start = useChange({
    send: async (changes: PolicyChanges) => {
      const body = { limit: replayedRequests, changes }
      const params = pathOf(policyId)
      const { id } = await dataOf(api.POST('/v1/organization/policies/{policy_id}/backtest', { params, body }))
      return { id, changes }
    },
    refresh: [[...keyOf(policyId), 'backtests']],
    onDone: setStarted,
  })
  const running = useQuery({
    enabled: started !== undefined,
    queryKey: [...keyOf(policyId), 'backtest', started?.id],
    queryFn: (): Promise<Backtest> => {
      const params = { path: { policy_id: policyId, backtest_id: started?.id ?? '' } }
      return dataOf(api.GET('/v1/organization/policies/{policy_id}/backtest/{backtest_id}', { params }))
    },
    refetchInterval: ({ state }) => (state.data?.status === 'running' || state.data === undefined ? progressMs : false),
  })
  return { start, replayedChanges: started?.changes, backtest: running.data, error: start.error ?? running.error }
}

export const useSaveDraft = (policyId: string, onDone: () => void) =>
  useChange({
    send: (body: PolicyChanges & { readonly revision: number }): Promise<Policy> =>
      dataOf(api.PATCH('/v1/organization/policies/{policy_id}', { params: pathOf(policyId), body })),
    refresh: [['policies'], keyOf(policyId)],
    onDone,
  })
