import { words } from '../words/en.ts'
import type { components } from '../api/schema.d.ts'

type Request = components['schemas']['RequestDetail']

/** What the sentence is made of. */
export type SummarizedRequest = Pick<
  Request,
  'status' | 'decision' | 'is_enforced' | 'error' | 'model' | 'direction'
> & { readonly outcomes: readonly SummarizedOutcome[] }

type Outcome = Request['outcomes'][number]
export type SummarizedOutcome = Pick<
  Outcome,
  | 'check'
  | 'is_deciding'
  | 'policy_id'
  | 'name'
  | 'version'
  | 'decision'
  | 'categories'
  | 'places'
  | 'terms'
  | 'has_no_allowed_term'
  | 'personal_data'
>

/** The rule that a part of the sentence names. */
export type RuleLink = { readonly kind: 'policy'; readonly policyId: string } | { readonly kind: 'gateway' }
export type SummaryPart = string | { readonly label: string; readonly rule: RuleLink }

const text = words.request.summary

/** What happened to the request and why, in one or two sentences. */
export function summaryOf(request: SummarizedRequest): readonly SummaryPart[] {
  const { status, decision, is_enforced: isEnforced, error, model } = request
  if (status === 'error') return [text.failed(model, errorText(error))]
  if (decision === 'not_evaluated') return notEvaluated(request)
  const deciding = request.outcomes.find((outcome) => outcome.is_deciding)
  if (decision === 'allow' || deciding === undefined) return [text.allowed(model)]
  if (!isEnforced)
    return [text.monitored(model), ...atStart(ruleOf(deciding)), text.would(text.verbs[decision]), ...foundBy(deciding)]
  if (decision === 'refuse' || decision === 'escalate')
    return [text.denied(request.direction === 'response'), ...ruleOf(deciding), ...foundBy(deciding)]
  return [text.changed(model), ...ruleOf(deciding), ...changeBy(decision, deciding)]
}

/** No check decided against the request, but at least one could not be evaluated; or none ran. */
function notEvaluated({ status, error, model, outcomes }: SummarizedRequest): readonly SummaryPart[] {
  const [first, ...others] = outcomes.filter(({ decision }) => decision === 'not_evaluated')
  if (first === undefined) return [text.rejected(errorText(error))]
  return [status === 'ok' ? text.changed(model) : text.closed, ...ruleOf(first), text.unevaluated(others.length)]
}

/** The code of an error, in words where these say more. */
const errorText = (code: string | null): string =>
  code === null ? words.common.failed : (words.budgets.ofRequest.errors[code] ?? code)

/** False if the request was rejected before the checks. */
export const isChecked = ({ decision, outcomes }: SummarizedRequest): boolean =>
  decision !== 'not_evaluated' || outcomes.length > 0

/**
 * What happened to the request, and how many checks were not evaluated. These are no pass, so they are mentioned; they do not
 * hide what the other checks decided.
 */
export function shownVerdict(request: SummarizedRequest): {
  readonly decision: Request['decision']
  readonly notEvaluated: number
} {
  const { decision, outcomes, status } = request
  const skipped = outcomes.filter((outcome) => outcome.decision === 'not_evaluated').length
  if (decision !== 'not_evaluated' || skipped === 0) return { decision, notEvaluated: skipped }
  return { decision: status === 'denied' ? 'refuse' : 'allow', notEvaluated: skipped }
}

/** As the start of a sentence. */
const atStart = ([first = '', ...rest]: readonly SummaryPart[]): readonly SummaryPart[] =>
  typeof first === 'string' ? [first.slice(0, 1).toUpperCase() + first.slice(1), ...rest] : [first, ...rest]

/** The check, with a link to the rule where there is one to open. */
function ruleOf({ check, policy_id: policyId, name, version }: SummarizedOutcome): readonly SummaryPart[] {
  const versionText = version === null ? '' : text.version(version)
  if (check === 'policy' && policyId !== null)
    return [text.policy, { label: name ?? policyId, rule: { kind: 'policy', policyId } }, versionText]
  if (check === 'gateway' || check === 'prompt_injection')
    return [
      name === null ? text.ofUnnamed : text.ofGateway,
      { label: name ?? text.gateway, rule: { kind: 'gateway' } },
      versionText,
    ]
  return [text.moderation]
}

/** What the check acted on, as far as it is known without the texts. */
function foundBy(outcome: SummarizedOutcome): readonly string[] {
  const { check, categories, places, terms } = outcome
  if (check === 'always_blocked') return [text.alwaysBlocked(categories)]
  if (check === 'requested') return [text.requested(categories)]
  if (check === 'prompt_injection') return [text.injection(places.map((place) => text.places[place] ?? place))]
  if (outcome.has_no_allowed_term) return [text.noAllowedTerm]
  const found = [...terms.map(text.term), ...categories.map(text.category)]
  return found.length === 0 ? ['.'] : [`: ${found.join(', ')}.`]
}

function changeBy(
  decision: Request['decision'],
  { personal_data: personalData }: SummarizedOutcome,
): readonly string[] {
  if (decision !== 'redact') return [text.reworded]
  const kinds = personalData.map(({ kind, count }) => text.personalData(kind, count))
  return [kinds.length === 0 ? text.redacted : text.replaced(kinds)]
}
