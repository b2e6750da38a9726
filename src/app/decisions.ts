import type { LimitStore } from '../domain/limits/store.ts'
import type { DecisionRouteParts } from '../http/decisions/routes.ts'
import type { ReadDecision } from '../http/decisions/read-decision.ts'
import { createReadLimit } from '../pipeline/billing/read-limit.ts'

/** Few reads, so that explanations do not become a way to learn the rules by trying. */
const readLimit = { name: 'explanations', perKey: 10, perOrganization: 300 }

/** What callers learn about decisions on their requests. */
export const createDecisions = (
  limits: Pick<LimitStore, 'admit'>,
  read: ReadDecision,
): DecisionRouteParts['decisions'] => ({ admit: createReadLimit(limits, readLimit), read })
