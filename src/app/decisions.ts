import { gatewayStore } from '../adapters/stores/sql/policies/gateway-configurations.ts'
import { policyStore } from '../adapters/stores/sql/policies/policies.ts'
import type { Explain } from '../domain/explanation/explain.ts'
import type { LimitStore } from '../domain/limits/store.ts'
import type { DecisionRouteParts } from '../http/decisions/routes.ts'
import { createReadLimit } from '../pipeline/billing/read-limit.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { Stores } from './stores.ts'

/** Few reads, so that explanations do not become a way to learn the rules by trying. */
const readLimit = { name: 'explanations', perKey: 10, perOrganization: 300 }

/** What callers learn about decisions on their requests. */
export const createDecisions = (
  { config }: Pick<Infrastructure, 'config'>,
  { reading, reportedEvents }: Stores,
  { limits, explain }: { readonly limits: Pick<LimitStore, 'admit'>; readonly explain: Explain },
): DecisionRouteParts['decisions'] => ({
  admit: createReadLimit(limits, readLimit),
  toCallers: config.explanations.to_callers,
  explain,
  events: reportedEvents,
  rules: { policies: policyStore(reading), gateway: gatewayStore(reading) },
})
