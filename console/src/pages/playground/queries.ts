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

/** Policies whose draft differs from what is in force. */
export const useDrafts = (isAllowed: boolean) =>
  useQuery({
    queryKey: ['policies', 'drafts'],
    queryFn: () =>
      dataOf(api.GET('/v1/organization/policies', { params: { query: { limit, has_unpublished_changes: true } } })),
    select: ({ data }): readonly Choice[] => data.map(({ id, name }) => [id, name]),
    enabled: isAllowed,
  }).data

export const useEvaluation = (body: EvaluationRequest | undefined) =>
  useQuery({
    queryKey: ['evaluation', body],
    queryFn: ({ signal }): Promise<Evaluation> =>
      dataOf(api.POST('/v1/organization/evaluate', { body: body ?? { scenario: {} }, signal })),
    enabled: body !== undefined,
    placeholderData: keepPreviousData,
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

/** The kept text of a request. The server records the read. */
export async function loadPrompt(requestId: string): Promise<string | undefined> {
  const params = { path: { request_id: requestId }, query: { include: 'content' as const } }
  return (await dataOf(api.GET('/v1/organization/requests/{request_id}', { params }))).content?.prompt.text
}
