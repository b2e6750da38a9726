import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'
import { words } from '../../words/en.ts'

type PolicyCreate = components['schemas']['PolicyCreate']
type PolicySummary = components['schemas']['PolicyList']['data'][number]

const { prefix, names } = words.firstSteps.samples

/** All in monitoring: they record matches, and deny nothing. */
const samples: readonly PolicyCreate[] = [
  { name: prefix + names.secrets, rule: 'cel:pii["secret"] > 0', direction: 'request' },
  {
    name: prefix + names.personalData,
    rule: 'cel:pii["email"] + pii["phone"] + pii["card"] + pii["iban"] > 0',
    direction: 'request',
  },
  {
    name: prefix + names.jailbreak,
    rule: 'cel:text.matches("(?i)(ignore|forget|disregard) (all |any )?(previous|prior|above|your) (instructions|rules|prompts)")',
    direction: 'request',
  },
  { name: prefix + names.phrase, rule: 'Never mention "Project Falcon".', direction: 'both' },
]

const samplesKey = ['policies', 'samples']
const changed = [['policies'], ['overview']]

/** The sample policies that exist. */
export const useSamples = (isEnabled: boolean) =>
  useQuery({
    queryKey: samplesKey,
    queryFn: async (): Promise<readonly PolicySummary[]> => {
      const query = { search: prefix.trim(), limit: 100 }
      const { data } = await dataOf(api.GET('/v1/organization/policies', { params: { query } }))
      return data.filter(({ name }) => name.startsWith(prefix))
    },
    enabled: isEnabled,
  })

/** Creates and publishes the samples that do not exist yet. */
export const useLoadSamples = () =>
  useChange({
    refresh: changed,
    send: async (existing: readonly PolicySummary[]): Promise<void> => {
      const known = new Set(existing.map(({ name }) => name))
      for (const sample of samples.filter(({ name }) => !known.has(name))) {
        const body = { ...sample, mode: 'monitoring', scope: 'organization' } as const
        const { id, revision } = await dataOf(api.POST('/v1/organization/policies', { body }))
        const path = { policy_id: id }
        await api.POST('/v1/organization/policies/{policy_id}/publish', { params: { path }, body: { revision } })
      }
    },
  })

export const useRemoveSamples = () =>
  useChange({
    refresh: changed,
    send: async (existing: readonly PolicySummary[]): Promise<void> => {
      for (const { id, revision } of existing)
        await api.DELETE('/v1/organization/policies/{policy_id}', {
          params: { path: { policy_id: id }, query: { revision } },
        })
    },
  })
