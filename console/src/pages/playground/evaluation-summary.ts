import type { SummarizedOutcome, SummarizedRequest } from '../../kit/request-summary.ts'
import type { Evaluation } from './queries.ts'

/** An evaluation in the form of a request of the log, so that both are told in the same sentence. */
export function summarized(
  { verdict, outcomes, evidence }: Evaluation,
  { model, direction }: Pick<SummarizedRequest, 'model' | 'direction'>,
): SummarizedRequest {
  const isDenied = isDenial(verdict.effective_decision)
  return {
    status: isDenied ? 'denied' : 'ok',
    decision: verdict.decision,
    is_enforced: verdict.enforced,
    error: null,
    model,
    direction,
    outcomes: outcomes.map((outcome): SummarizedOutcome => {
      const isDeciding = outcome.check === verdict.check && outcome.policy_id === verdict.policy_id
      const found = evidence.filter(
        ({ check, policy_id: policyId }) =>
          check === outcome.check && (check !== 'policy' || policyId === outcome.policy_id),
      )
      const named = (kind: string): string[] => [...new Set(found.filter((each) => each.kind === kind).map(nameOf))]
      return {
        check: outcome.check,
        is_deciding: isDeciding,
        policy_id: outcome.policy_id,
        name: outcome.name,
        version: outcome.version,
        decision: outcome.decision,
        categories: isDeciding ? verdict.triggered_categories : [],
        places: [],
        terms: outcome.check === 'gateway' ? named('term') : [],
        has_no_allowed_term: found.some(({ kind }) => kind === 'no_allowed_term'),
        personal_data: named('personal_data').map((kind) => ({
          kind,
          count: found.filter((each) => each.kind === 'personal_data' && each.name === kind).length,
        })),
      }
    }),
  }
}

const nameOf = ({ name }: { readonly name: string }): string => name

export const isDenial = (decision: string): boolean => decision === 'refuse' || decision === 'escalate'
