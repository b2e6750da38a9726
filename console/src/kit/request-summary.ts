import { words } from '../words/en.ts'
import type { components } from '../api/schema.d.ts'

type Request = components['schemas']['RequestDetail']
type Outcome = Request['outcomes'][number]

/** The rule that a part of the sentence names. */
export type RuleLink = { readonly kind: 'policy'; readonly policyId: string } | { readonly kind: 'gateway' }
export type SummaryPart = string | { readonly label: string; readonly rule: RuleLink }

const text = words.request.summary

/** What happened to the request and why, in one or two sentences. */
export function summaryOf(request: Request): readonly SummaryPart[] {
  const { status, decision, is_enforced: isEnforced, error, model } = request
  if (status === 'error') return [text.failed(model, error ?? words.common.failed)]
  if (decision === 'not_evaluated') return [text.rejected(error ?? words.common.failed)]
  const deciding = request.outcomes.find((outcome) => outcome.is_deciding)
  if (decision === 'allow' || deciding === undefined) return [text.allowed(model)]
  if (!isEnforced)
    return [text.monitored(model), ...atStart(ruleOf(deciding)), text.would(text.verbs[decision]), ...foundBy(deciding)]
  if (decision === 'refuse' || decision === 'escalate')
    return [text.denied(request.direction === 'response'), ...ruleOf(deciding), ...foundBy(deciding)]
  return [text.changed(model), ...ruleOf(deciding), ...changeBy(decision, deciding)]
}

/** As the start of a sentence. */
const atStart = ([first = '', ...rest]: readonly SummaryPart[]): readonly SummaryPart[] =>
  typeof first === 'string' ? [first.slice(0, 1).toUpperCase() + first.slice(1), ...rest] : [first, ...rest]

/** The check, with a link to the rule where there is one to open. */
function ruleOf({ check, policy_id: policyId, name, version }: Outcome): readonly SummaryPart[] {
  const versionText = version === null ? '' : text.version(version)
  if (check === 'policy' && policyId !== null)
    return [text.policy, { label: name ?? policyId, rule: { kind: 'policy', policyId } }, versionText]
  if (check === 'gateway')
    return [text.ofGateway, { label: name ?? text.gateway, rule: { kind: 'gateway' } }, versionText]
  return [text.moderation]
}

/** What the check acted on, as far as it is known without the texts. */
function foundBy(outcome: Outcome): readonly string[] {
  const { check, categories, terms } = outcome
  if (check === 'always_blocked') return [text.alwaysBlocked(categories)]
  if (check === 'requested') return [text.requested(categories)]
  if (outcome.has_no_allowed_term) return [text.noAllowedTerm]
  const found = [...terms.map(text.term), ...categories.map(text.category)]
  return found.length === 0 ? ['.'] : [`: ${found.join(', ')}.`]
}

function changeBy(decision: Request['decision'], { personal_data: personalData }: Outcome): readonly string[] {
  if (decision !== 'redact') return [text.reworded]
  const kinds = personalData.map(({ kind, count }) => text.personalData(kind, count))
  return [kinds.length === 0 ? text.redacted : text.replaced(kinds)]
}
