import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'

export type GateRun = components['schemas']['GateRun']
export type GateCheck = components['schemas']['GateCheck']
export type PublishGate = components['schemas']['PublishGate']
export type GateUpdate = components['schemas']['PublishGateUpdate']

const runsKey = (policyId: string) => ['policy', policyId, 'gate'] as const
const gateKey = ['publish_gate'] as const
const progressMs = 1_000

/** The newest run of the gate on a policy; null if there is none. Loaded again each second while it runs. */
export const useLatestRun = (policyId: string) =>
  useQuery({
    queryKey: runsKey(policyId),
    queryFn: async (): Promise<GateRun | null> => {
      const params = { path: { policy_id: policyId }, query: { limit: 1 } }
      const { data } = await dataOf(api.GET('/v1/organization/policies/{policy_id}/gate', { params }))
      return data[0] ?? null
    },
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? progressMs : false),
  })

export const useStartRun = (policyId: string) =>
  useChange({
    send: (revision: number): Promise<GateRun> =>
      dataOf(
        api.POST('/v1/organization/policies/{policy_id}/gate', {
          params: { path: { policy_id: policyId } },
          body: { revision },
        }),
      ),
    refresh: [runsKey(policyId)],
  })

export const useApprove = (policyId: string) =>
  useChange({
    send: (runId: string): Promise<GateRun> =>
      dataOf(
        api.POST('/v1/organization/policies/{policy_id}/gate/{gate_run_id}/approve', {
          params: { path: { policy_id: policyId, gate_run_id: runId } },
        }),
      ),
    refresh: [runsKey(policyId)],
  })

/** The gate of a policy; without an id, that of the organization. */
export const useGate = (policyId: string | undefined) =>
  useQuery({
    queryKey: [...gateKey, policyId ?? ''],
    queryFn: (): Promise<PublishGate> =>
      policyId === undefined
        ? dataOf(api.GET('/v1/organization/publish_gate'))
        : dataOf(
            api.GET('/v1/organization/policies/{policy_id}/publish_gate', {
              params: { path: { policy_id: policyId } },
            }),
          ),
  })

export const useSaveGate = (policyId: string | undefined, onDone: () => void) =>
  useChange({
    send: (body: GateUpdate): Promise<PublishGate> =>
      policyId === undefined
        ? dataOf(api.PUT('/v1/organization/publish_gate', { body }))
        : dataOf(
            api.PUT('/v1/organization/policies/{policy_id}/publish_gate', {
              params: { path: { policy_id: policyId } },
              body,
            }),
          ),
    refresh: [gateKey, ...(policyId === undefined ? [['policy']] : [runsKey(policyId)])],
    onDone,
  })
