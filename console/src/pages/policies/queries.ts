import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'
import { useList } from '../../api/use-list.ts'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import type { PoliciesSearch } from './search.ts'

export type PolicySummary = components['schemas']['PolicySummary']
export type Policy = components['schemas']['Policy']
export type PolicyVersion = components['schemas']['PolicyVersion']
export type DecidedRequest = components['schemas']['Request']
export type RuleCheck = components['schemas']['RuleCheck']
export type Evaluation = components['schemas']['Evaluation']
export type EvaluationRequest = components['schemas']['EvaluationRequest']
export type PolicyUpdate = components['schemas']['PolicyUpdate']
export type PolicyCreate = components['schemas']['PolicyCreate']
export type Backtest = components['schemas']['Backtest']
export type BacktestCreate = components['schemas']['BacktestCreate']
export type PolicyCase = components['schemas']['PolicyCase']
export type CaseCreate = components['schemas']['PolicyCaseCreate']
export type CaseResult = components['schemas']['PolicyCaseResult']
type CaseRun = components['schemas']['PolicyCaseRun']

const pageSize = 100
/** How often counts of decisions are loaded again. */
const statsMs = 10_000

export const usePolicies = (filters: PoliciesSearch) =>
  useInfiniteQuery({
    queryKey: ['policies', filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }): Promise<components['schemas']['PolicyList']> => {
      const query = {
        ...defined(filters),
        ...defined({ after: pageParam }),
        limit: pageSize,
        include: 'stats' as const,
      }
      return dataOf(api.GET('/v1/organization/policies', { params: { query } }))
    },
    getNextPageParam: (page) => (page.has_more ? (page.last_id ?? undefined) : undefined),
    placeholderData: keepPreviousData,
    refetchInterval: statsMs,
  })

const policyKey = (policyId: string) => ['policy', policyId] as const
const pathOf = (policyId: string) => ({ path: { policy_id: policyId } })

export const usePolicy = (policyId: string, isEnabled = true) =>
  useQuery({
    enabled: isEnabled,
    queryKey: [...policyKey(policyId), 'current'],
    queryFn: (): Promise<Policy> =>
      dataOf(api.GET('/v1/organization/policies/{policy_id}', { params: pathOf(policyId) })),
  })

export const useVersions = (policyId: string) =>
  useQuery({
    queryKey: [...policyKey(policyId), 'versions'],
    queryFn: (): Promise<components['schemas']['PolicyVersionList']> =>
      dataOf(
        api.GET('/v1/organization/policies/{policy_id}/versions', {
          params: { ...pathOf(policyId), query: { limit: pageSize } },
        }),
      ),
  })

export type DecisionHour = components['schemas']['DecisionCounts']['data'][number]

/** What the policy decided in the last seven days, by hour and version. */
export const useDecisions = (policyId: string) =>
  useQuery({
    queryKey: [...policyKey(policyId), 'decisions'],
    queryFn: (): Promise<components['schemas']['DecisionCounts']> =>
      dataOf(api.GET('/v1/organization/policies/{policy_id}/decisions', { params: pathOf(policyId) })),
    refetchInterval: statsMs,
  })

const progressMs = 1_000

/** The backtests of a policy, newest first. Loaded again each second while one runs. */
export const useBacktests = (policyId: string) =>
  useQuery({
    queryKey: [...policyKey(policyId), 'backtests'],
    queryFn: (): Promise<components['schemas']['BacktestList']> =>
      dataOf(api.GET('/v1/organization/policies/{policy_id}/backtest', { params: pathOf(policyId) })),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ status }) => status === 'running') === true ? progressMs : false,
  })

const casesKey = (policyId: string) => [...policyKey(policyId), 'cases'] as const

/** The cases of a policy, the newest first. */
export const useCases = (policyId: string) =>
  useList<PolicyCase>(casesKey(policyId), (after) =>
    dataOf(
      api.GET('/v1/organization/policies/{policy_id}/cases', {
        params: { ...pathOf(policyId), query: { limit: pageSize, ...defined({ after }) } },
      }),
    ),
  )

/** Runs all cases on the saved draft. The revisions are those of the draft and of the cases on the screen. */
export const useRunCases = (policyId: string) =>
  useChange({
    send: (_: { readonly revision: number; readonly cases: ReadonlyMap<string, number> }): Promise<CaseRun> =>
      dataOf(
        api.POST('/v1/organization/policies/{policy_id}/cases/run', {
          params: pathOf(policyId),
          body: { use: 'draft' },
        }),
      ),
    refresh: [],
  })

/** Adds a case, or changes the stored one at the revision that is on the screen. */
export const useSaveCase = (policyId: string, stored: PolicyCase | undefined, onDone: () => void) =>
  useChange({
    send: (body: CaseCreate): Promise<PolicyCase> =>
      stored === undefined
        ? dataOf(api.POST('/v1/organization/policies/{policy_id}/cases', { params: pathOf(policyId), body }))
        : dataOf(
            api.PATCH('/v1/organization/policies/{policy_id}/cases/{case_id}', {
              params: { path: { policy_id: policyId, case_id: stored.id } },
              body: { ...body, revision: stored.revision },
            }),
          ),
    refresh: [casesKey(policyId)],
    onDone,
  })

export const useDeleteCase = (policyId: string, onDone: () => void) =>
  useChange({
    send: (caseId: string) =>
      dataOf(
        api.DELETE('/v1/organization/policies/{policy_id}/cases/{case_id}', {
          params: { path: { policy_id: policyId, case_id: caseId } },
        }),
      ),
    refresh: [casesKey(policyId)],
    onDone,
  })

/** How many requests a period has. */
export const useRequestTotal = (period: { readonly from: number; readonly to: number }, isEnabled: boolean) =>
  useQuery({
    queryKey: ['requests', 'total', period],
    queryFn: () =>
      dataOf(api.GET('/v1/organization/requests', { params: { query: { ...period, limit: 1, include: 'total' } } })),
    select: ({ total = 0, is_total_exact: isExact = false }) => ({ total, isExact }),
    enabled: isEnabled,
  }).data

export const useStartBacktest = (policyId: string, onDone: (backtest: Backtest) => void) =>
  useChange({
    send: (body: BacktestCreate): Promise<Backtest> =>
      dataOf(api.POST('/v1/organization/policies/{policy_id}/backtest', { params: pathOf(policyId), body })),
    refresh: [[...policyKey(policyId), 'backtests']],
    onDone,
  })

export const useCancelBacktest = (policyId: string) =>
  useChange({
    send: (backtestId: string): Promise<Backtest> =>
      dataOf(
        api.POST('/v1/organization/policies/{policy_id}/backtest/{backtest_id}/cancel', {
          params: { path: { policy_id: policyId, backtest_id: backtestId } },
        }),
      ),
    refresh: [[...policyKey(policyId), 'backtests']],
  })

/** The request that a new policy is made from. */
export const useSourceRequest = (requestId: string) =>
  useQuery({
    queryKey: ['request', requestId],
    queryFn: (): Promise<components['schemas']['RequestDetail']> =>
      dataOf(api.GET('/v1/organization/requests/{request_id}', { params: { path: { request_id: requestId } } })),
  })

const shownRequests = 20

/** The newest requests of the time range that the policy decided. */
export function useDecidedRequests(policyId: string) {
  const range = useTimeRangeSearch()
  return useQuery({
    queryKey: [...policyKey(policyId), 'requests', range],
    queryFn: (): Promise<components['schemas']['RequestList']> => {
      const { from, to } = timeRangeOf(range, Date.now())
      const query = { policy_id: [policyId], from, ...(to !== undefined && { to }), limit: shownRequests }
      return dataOf(api.GET('/v1/organization/requests', { params: { query } }))
    },
  })
}

/** What the service says about a rule: how it is evaluated, what it names, and its errors. */
export const useRuleCheck = (rule: string) =>
  useQuery({
    queryKey: ['rule_check', rule],
    queryFn: (): Promise<RuleCheck> => dataOf(api.POST('/v1/organization/policies/check', { body: { rule } })),
    enabled: rule.trim() !== '',
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  })

/** What a text would get. Undefined: nothing is evaluated. */
export const useEvaluation = (request: EvaluationRequest | undefined) =>
  useQuery({
    queryKey: ['evaluation', request],
    queryFn: ({ signal }): Promise<Evaluation> =>
      dataOf(api.POST('/v1/organization/evaluate', { body: request ?? { scenario: {} }, signal })),
    enabled: request !== undefined,
    placeholderData: keepPreviousData,
  })

export const useCreatePolicy = (onDone: (policy: Policy) => void) =>
  useChange({
    send: (body: PolicyCreate): Promise<Policy> => dataOf(api.POST('/v1/organization/policies', { body })),
    refresh: [['policies']],
    onDone,
  })

export const useUpdatePolicy = (policyId: string, onSaved: (policy: Policy) => void) =>
  useChange({
    send: async (body: PolicyUpdate): Promise<Policy> => {
      const saved = await dataOf(api.PATCH('/v1/organization/policies/{policy_id}', { params: pathOf(policyId), body }))
      // Before the policy is loaded again, so that the form does not take its own change for somebody else's.
      onSaved(saved)
      return saved
    },
    refresh: [['policies'], policyKey(policyId)],
  })

/** Changes of what is in force, each against the revision that is on the screen. */
/** Only a publication has a reason. */
type Publication = components['schemas']['PolicyPublication']

export type PolicyAction = 'publish' | 'pause' | 'resume' | 'discard_draft'

export const usePolicyAction = (policyId: string, onDone: () => void) =>
  useChange({
    send: ({ action, body }: { readonly action: PolicyAction; readonly body: Publication }): Promise<Policy> =>
      dataOf(api.POST(`/v1/organization/policies/{policy_id}/${action}`, { params: pathOf(policyId), body })),
    refresh: [['policies'], policyKey(policyId)],
    onDone,
  })

/** Two calls, each against the revision that the one before it led to, so that no other change slips in between. */
export const useChangeMode = (policyId: string, onDone: () => void) =>
  useChange({
    send: async (body: { readonly revision: number; readonly mode: PolicyVersion['mode'] }): Promise<Policy> => {
      const params = pathOf(policyId)
      const { revision } = await dataOf(api.PATCH('/v1/organization/policies/{policy_id}', { params, body }))
      return dataOf(api.POST('/v1/organization/policies/{policy_id}/publish', { params, body: { revision } }))
    },
    refresh: [['policies'], policyKey(policyId)],
    refreshesOnError: true,
    onDone,
  })

export const useRollback = (policyId: string, onDone: () => void) =>
  useChange({
    send: (body: components['schemas']['PolicyRollback']): Promise<Policy> =>
      dataOf(api.POST('/v1/organization/policies/{policy_id}/rollback', { params: pathOf(policyId), body })),
    refresh: [['policies'], policyKey(policyId)],
    onDone,
  })

export const useDeletePolicy = (policyId: string, onDone: () => void) =>
  useChange({
    send: (revision: number) =>
      dataOf(
        api.DELETE('/v1/organization/policies/{policy_id}', { params: { ...pathOf(policyId), query: { revision } } }),
      ),
    refresh: [['policies']],
    onDone,
  })

type Defined<Value> = { [Name in keyof Value]?: Exclude<Value[Name], undefined> }

const defined = <Value extends object>(value: Value): Defined<Value> =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Defined<Value>
