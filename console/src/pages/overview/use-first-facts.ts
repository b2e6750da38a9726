import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { useModelNames } from '../../api/names.ts'
import { useMay } from '../../session/session.tsx'

export type FirstFacts = {
  /** The newest request. */
  readonly requestId: string | undefined
  /** Whether a policy was ever published. */
  readonly hasPolicy: boolean
  /** Whether there is a model beside the one that repeats its input, which a server without an upstream has. */
  readonly hasModel: boolean
}

const pollMs = 2_000

/** What the first steps are ticked by; undefined until it is known. Asks again while nothing has happened yet. */
export function useFirstFacts(): FirstFacts | undefined {
  const maySeePolicies = useMay('policies:read')
  const request = useQuery({
    queryKey: ['first_request'],
    queryFn: () => dataOf(api.GET('/v1/organization/requests', { params: { query: { limit: 1 } } })),
    refetchInterval: ({ state }) => (state.data?.data.length === 0 ? pollMs : false),
  })
  const policies = useQuery({
    queryKey: ['policies', 'first'],
    queryFn: () => dataOf(api.GET('/v1/organization/policies', { params: { query: { limit: 20 } } })),
    enabled: maySeePolicies,
  })
  const models = useModelNames()
  if (request.data === undefined || models.length === 0 || (maySeePolicies && policies.data === undefined))
    return undefined
  return {
    requestId: request.data.data[0]?.id,
    hasPolicy: policies.data?.data.some(({ current_version: version }) => version !== null) ?? true,
    hasModel: models.some((name) => name !== 'gatehouse-echo'),
  }
}
