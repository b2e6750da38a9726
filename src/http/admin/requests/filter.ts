import type { Static, TObject } from 'typebox'
import type { RequestFilter } from '../../../domain/audit/log.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { periodOf } from '../../resources/fields.ts'
import type { RequestFilterFields } from './schema.ts'

const microPerUsd = 1_000_000

/** The filter of a query. */
export const requestFilterOf = (query: Static<TObject<typeof RequestFilterFields>>): RequestFilter =>
  omitUndefined({
    decision: query.decision,
    status: query.status,
    model: query.model,
    projectId: query.project_id,
    policyId: query.policy_id,
    actorId: query.api_key_id,
    userId: query.user_id,
    reasonCode: query.reason_code,
    category: query.category,
    minMs: query.min_ms,
    minCostMicroUsd: query.min_cost_usd === undefined ? undefined : Math.ceil(query.min_cost_usd * microPerUsd),
    ...periodOf(query),
  })
