import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'

export type Judge = components['schemas']['Judge']
export type JudgeCreate = components['schemas']['JudgeCreate']
export type Calibration = components['schemas']['JudgeCalibration']
export type Costs = components['schemas']['JudgeCostReport']
export type Comparison = components['schemas']['JudgeComparison']

const judgesKey = ['judges'] as const
const progressMs = 1_000
/** Each node adds what it asked some seconds later. */
const costsMs = 15_000

/** An organization has few of them, so one page is enough. */
export const useJudges = () =>
  useQuery({
    queryKey: [...judgesKey, 'list'],
    queryFn: async (): Promise<readonly Judge[]> =>
      (await dataOf(api.GET('/v1/organization/judges', { params: { query: { limit: 100 } } }))).data,
  })

/** The newest calibration of a judge; null if there is none. Loaded again each second while it runs. */
export function useCalibration(judgeId: string) {
  const client = useQueryClient()
  const queryKey = [...judgesKey, judgeId, 'calibration'] as const
  return useQuery({
    queryKey,
    queryFn: async (): Promise<Calibration | null> => {
      const params = { path: { judge_id: judgeId }, query: { limit: 20 } }
      const { data } = await dataOf(api.GET('/v1/organization/judges/{judge_id}/calibrations', { params }))
      const found = data.find(({ kind }) => kind === 'calibration') ?? null
      const before = client.getQueryData<Calibration | null>(queryKey)
      // Its end changes the figures and the costs of the judge. Not this query, which would cancel itself.
      if (before?.status === 'running' && found?.status !== 'running')
        for (const key of [['list'], [judgeId, 'costs']])
          void client.invalidateQueries({ queryKey: [...judgesKey, ...key] })
      return found
    },
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? progressMs : false),
  })
}

export const useCosts = (judgeId: string) =>
  useQuery({
    queryKey: [...judgesKey, judgeId, 'costs'],
    queryFn: (): Promise<Costs> =>
      dataOf(api.GET('/v1/organization/judges/{judge_id}/costs', { params: { path: { judge_id: judgeId } } })),
    refetchInterval: costsMs,
  })

export const useComparison = (judgeId: string) =>
  useQuery({
    queryKey: [...judgesKey, judgeId, 'comparison'],
    queryFn: (): Promise<Comparison> =>
      dataOf(api.GET('/v1/organization/judges/{judge_id}/comparison', { params: { path: { judge_id: judgeId } } })),
  })

/** What a change of a judge makes old. Which judge is active is a feature of the organization. */
const refresh = [judgesKey, ['overview'], ['me']]
const at = (judgeId: string) => ({ params: { path: { judge_id: judgeId } } })

export const useCreateJudge = (onDone: (judge: Judge) => void) =>
  useChange({
    send: (body: JudgeCreate): Promise<Judge> => dataOf(api.POST('/v1/organization/judges', { body })),
    refresh,
    onDone,
  })

export const useStartCalibration = (judgeId: string) =>
  useChange({
    send: (): Promise<Calibration> =>
      dataOf(api.POST('/v1/organization/judges/{judge_id}/calibrations', { ...at(judgeId), body: {} })),
    refresh,
  })

export const useActivate = (judgeId: string, onDone: () => void) =>
  useChange({
    send: (body: components['schemas']['JudgeActivation']): Promise<Judge> =>
      dataOf(api.POST('/v1/organization/judges/{judge_id}/activate', { ...at(judgeId), body })),
    refresh,
    onDone,
  })

export const useShadow = (judgeId: string, onDone: () => void) =>
  useChange({
    send: (shareBasisPoints: number): Promise<Judge> =>
      dataOf(
        api.POST('/v1/organization/judges/{judge_id}/shadow', { ...at(judgeId), body: { share_bp: shareBasisPoints } }),
      ),
    refresh,
    onDone,
  })

export const useRetire = (judgeId: string, onDone: () => void) =>
  useChange({
    send: (): Promise<Judge> => dataOf(api.POST('/v1/organization/judges/{judge_id}/retire', at(judgeId))),
    refresh,
    onDone,
  })
