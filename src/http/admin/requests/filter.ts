import type { Static, TObject } from 'typebox'
import type { RequestFilter, RequestSearch, RequestValues } from '../../../domain/audit/log.ts'
import type { DirectoryStore } from '../../../domain/identity/store.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { periodOf } from '../../resources/fields.ts'
import type { RequestFilterFields } from './filter-schema.ts'

const microPerUsd = 1_000_000

type FilterQuery = Static<TObject<typeof RequestFilterFields>>

/** Where names are looked up. */
export type NamedStores = {
  readonly directory: Pick<DirectoryStore, 'listProjects' | 'listProjectKeys'>
  readonly policies: Pick<PolicyStore, 'list'>
}

/** Reads the filter of a query. */
export type ReadFilter = (organizationId: string, query: FilterQuery) => Promise<RequestFilter>

export const createFilterReader =
  (stores: NamedStores): ReadFilter =>
  async (organizationId, query) => {
    const { q, min_ms: minMs, min_cost_usd: minCostUsd } = query
    return omitUndefined({
      is: valuesOf(query),
      isNot: excludedValuesOf(query),
      search: q === undefined ? undefined : await searchOf(stores, organizationId, q),
      minMs,
      minCostMicroUsd: minCostUsd === undefined ? undefined : Math.ceil(minCostUsd * microPerUsd),
      ...periodOf(query),
    })
  }

const valuesOf = (query: FilterQuery): RequestValues =>
  omitUndefined({
    decision: query.decision,
    status: query.status,
    model: query.model,
    projectId: query.project_id,
    policyId: query.policy_id,
    actorId: query.api_key_id,
    userId: query.user_id,
    reasonCode: query.reason_code,
    errorCode: query.error,
    category: query.category,
  })

const excludedValuesOf = (query: FilterQuery): RequestValues =>
  omitUndefined({
    decision: query.not_decision,
    status: query.not_status,
    model: query.not_model,
    projectId: query.not_project_id,
    policyId: query.not_policy_id,
    actorId: query.not_api_key_id,
    userId: query.not_user_id,
    reasonCode: query.not_reason_code,
    errorCode: query.not_error,
    category: query.not_category,
  })

/** More things than this with the text in their names are left out. */
const maxNamed = 200

async function searchOf({ directory, policies }: NamedStores, organizationId: string, text: string) {
  const page = { limit: maxNamed, order: 'desc', search: text } as const
  const [projects, keys, named] = await Promise.all([
    directory.listProjects(organizationId, page),
    directory.listProjectKeys(organizationId, page),
    policies.list(organizationId, page),
  ])
  const idsOf = ({ items }: { readonly items: readonly { readonly id: string }[] }) => items.map(({ id }) => id)
  const search: RequestSearch = {
    text,
    projectIds: idsOf(projects),
    policyIds: idsOf(named),
    actorIds: idsOf(keys),
  }
  return search
}
