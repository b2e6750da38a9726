import type { AuditDecision } from '../audit/event/verdict.ts'
import { isOptionalCategory } from '../moderation/categories.ts'
import type { TextDirection } from '../moderation/classifier.ts'
import type { GatewayConfiguration } from './configuration.ts'

/** What was found in the texts of one request or one answer, all of them together. */
export type GatewayInput = {
  readonly direction: TextDirection
  /** Names of the categories found. Others than the configuration knows trigger nothing. */
  readonly categories: readonly string[]
  readonly allowlistHits: readonly string[]
  readonly denylistHits: readonly string[]
  readonly personalDataCount: number
  /** Whether a judge model can write a text anew. */
  readonly canRephrase: boolean
}

export type GatewayDecision = {
  readonly decision: Exclude<AuditDecision, 'not_evaluated'>
  readonly reasonCode: string
  readonly triggeredCategories: readonly string[]
}

/**
 * What a configuration says about what was found. Whether it is enforced is the rollout's matter. What is always blocked
 * is not its doing, also where it is named: a spike of that must not take the configuration out of force.
 */
export function evaluateGateway(config: GatewayConfiguration, findings: GatewayInput): GatewayDecision {
  const triggeredCategories = config.rules.flagged_categories.filter(
    (category) => isOptionalCategory(category) && findings.categories.includes(category),
  )
  const isForbidden = findings.denylistHits.length > 0 || triggeredCategories.length > 0
  const decision = strongest(config, findings, isForbidden)
  return { decision, reasonCode: reasonCodeOf(config, decision), triggeredCategories }
}

/** Asked from the strongest consequence to the weakest; every replacement of a refusal is stronger than a redaction. */
function strongest(
  config: GatewayConfiguration,
  findings: GatewayInput,
  isForbidden: boolean,
): GatewayDecision['decision'] {
  if (isOffTopic(config, findings)) return 'refuse'
  if (isForbidden) return replacementOf(config, findings)
  return config.rules.redact && findings.personalDataCount > 0 ? 'redact' : 'allow'
}

/** The allowlist says what callers may ask about. An answer need not repeat the words of its question. */
const isOffTopic = ({ rules }: GatewayConfiguration, { direction, allowlistHits }: GatewayInput): boolean =>
  direction === 'request' && rules.allowlist.length > 0 && allowlistHits.length === 0

/** What is done in place of a refusal; a text that nobody can write anew is refused. */
function replacementOf({ rules, refusal_replacement: replacement }: GatewayConfiguration, findings: GatewayInput) {
  const pattern = rules.response_pattern ?? replacement.mode ?? 'refuse'
  const wanted = pattern === 'refuse' && rules.rewrite_instead_of_refuse ? 'rewrite' : pattern
  const needsJudge = wanted === 'rewrite' || wanted === 'summary'
  return needsJudge && !findings.canRephrase ? 'refuse' : wanted
}

/** The decision in capitals, or the organization's own code that begins with it. */
export function reasonCodeOf({ rules }: GatewayConfiguration, decision: AuditDecision): string {
  const word = words[decision]
  return rules.reason_codes.find((code) => code.toUpperCase().startsWith(word)) ?? word
}

const words: Readonly<Record<AuditDecision, string>> = {
  allow: 'ALLOW',
  redact: 'REDACT',
  rewrite: 'REWRITE',
  summary: 'SUMMARY',
  escalate: 'ESCALATE',
  refuse: 'REFUSE',
  not_evaluated: 'NOT_EVALUATED',
}
