import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'

export type Evaluation = components['schemas']['Evaluation']
export type EvaluationRequest = components['schemas']['EvaluationRequest']
export type RequestDetail = components['schemas']['RequestDetail']
type Choice = readonly [id: string, name: string]

const staleTime = 60_000
const limit = 100

export const useModels = () =>
  useQuery({
    queryKey: ['playground', 'models'],
    queryFn: () => dataOf(api.GET('/v1/organization/models')),
    select: ({ data }): readonly string[] => [...new Set(data.flatMap(({ names }) => names))],
    staleTime,
  }).data

export const useActiveProjects = () =>
  useQuery({
    queryKey: ['playground', 'projects'],
    queryFn: () =>
      dataOf(api.GET('/v1/organization/projects', { params: { query: { limit, status: 'active', order: 'asc' } } })),
    select: ({ data }): readonly Choice[] => data.map(({ id, name }) => [id, name]),
    staleTime,
  }).data

type RuleChoice = {
  readonly id: string
  readonly name: string
  readonly hasDraft: boolean
  readonly isInForce: boolean
}

/** Policies that can be compared: with their draft, or left out. */
export const useRuleChoices = (isAllowed: boolean) =>
  useQuery({
    queryKey: ['policies', 'compared'],
    queryFn: () => dataOf(api.GET('/v1/organization/policies', { params: { query: { limit } } })),
    select: ({ data }): readonly RuleChoice[] =>
      data.map(({ id, name, state, has_unpublished_changes: hasDraft }) => ({
        id,
        name,
        hasDraft,
        isInForce: state !== 'draft' && state !== 'paused',
      })),
    enabled: isAllowed,
  }).data

/** `purpose` keeps the evaluations of what is typed and of what was sent apart. */
export const useEvaluation = (body: EvaluationRequest | undefined, purpose: 'typed' | 'sent' = 'typed') =>
  useQuery({
    queryKey: ['evaluation', purpose, body],
    queryFn: ({ signal }): Promise<Evaluation> =>
      dataOf(api.POST('/v1/organization/evaluate', { body: body ?? { scenario: {} }, signal })),
    enabled: body !== undefined,
    ...(purpose === 'typed' && { placeholderData: keepPreviousData }),
    staleTime: Infinity,
  })

/** The request in the log. Its event is written before the end of the answer, so it is read after that. */
export const useSentRequest = (requestId: string | undefined) =>
  useQuery({
    queryKey: ['request', requestId],
    queryFn: (): Promise<RequestDetail> =>
      dataOf(api.GET('/v1/organization/requests/{request_id}', { params: { path: { request_id: requestId ?? '' } } })),
    enabled: requestId !== undefined,
  })

/** The kept texts of a request. The server records the read. */
export async function loadContent(requestId: string): Promise<RequestDetail['content']> {
  const params = { path: { request_id: requestId }, query: { include: 'content' as const } }
  return (await dataOf(api.GET('/v1/organization/requests/{request_id}', { params }))).content
}
