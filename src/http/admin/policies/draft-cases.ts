import type { RunCases } from '../../../domain/cases/run.ts'
import type { CaseOutcome, GateStores } from '../../../domain/gate/runs.ts'
import { contentOf } from '../../../domain/policy/content.ts'
import { requireRevision } from '../../../domain/policy/lifecycle.ts'
import { findPolicy, type PolicyAt } from '../../../domain/policy/mutations.ts'
import { scenarioDecoder, type DecodeBody } from '../../resources/scenario.ts'

export type RunDraftCases = (
  stores: Pick<GateStores, 'policies' | 'cases'>,
  at: PolicyAt,
  actorId: string,
) => Promise<CaseOutcome>

/** Runs all cases of a policy on its draft. It may ask a judge, so it does not run in a transaction. */
export function createRunDraftCases(runCases: RunCases, decodeBody: DecodeBody): RunDraftCases {
  return async (stores, at, actorId) => {
    const { organizationId } = at
    const policy = await findPolicy(stores.policies, organizationId, at.id)
    requireRevision(policy, at.revision)
    const { id, name, draft } = policy
    const cases = await stores.cases.all({ organizationId, policyId: id })
    const tried = { id, name, version: undefined, content: contentOf(draft) }
    const scenarioOf = scenarioDecoder(decodeBody, actorId)
    const results = await runCases({ organizationId, policy: tried, cases, scenarioOf, usesJudge: true })
    return { cases, results }
  }
}
