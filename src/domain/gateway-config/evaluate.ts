import type { AuditDecision, GatewayMatch } from '../audit/event/verdict.ts'
import { isOptionalCategory } from '../scan/classify/categories.ts'
import type { TextDirection } from '../scan/classify/classifier.ts'
import type { GatewayConfiguration, ResponsePattern } from './configuration.ts'

/** The findings of all texts of one request or one answer. */
export type GatewayInput = {
  readonly direction: TextDirection
  /** Names of the categories found. Unknown ones trigger nothing. */
  readonly categories: readonly string[]
  readonly allowlistHits: readonly string[]
  readonly denylistHits: readonly string[]
  readonly personalData: Readonly<Record<string, number>>
  /** Whether a judge model is available that can rewrite a text. */
  readonly canRephrase: boolean
}

export type GatewayDecision = {
  readonly decision: Exclude<AuditDecision, 'not_evaluated'>
  readonly reasonCode: string
  readonly triggeredCategories: readonly string[]
  /** Undefined if the text is allowed. */
  readonly matched?: GatewayMatch
}

/**
 * The decision of a configuration on findings. The rollout decides whether it is enforced. Always-blocked categories are
 * ignored here even if the configuration names them, because a spike of them must not disable the configuration.
 */
export function evaluateGateway(config: GatewayConfiguration, findings: GatewayInput): GatewayDecision {
  const triggeredCategories = config.rules.flagged_categories.filter(
    (category) => isOptionalCategory(category) && findings.categories.includes(category),
  )
  const isMatch = findings.denylistHits.length > 0 || triggeredCategories.length > 0
  const decision = strongest(config, findings, isMatch)
  const decided = { decision, reasonCode: reasonCodeOf(config, decision), triggeredCategories }
  return decision === 'allow' ? decided : { ...decided, matched: matchOf(config, findings) }
}

function matchOf(config: GatewayConfiguration, findings: GatewayInput): GatewayMatch {
  const { denylist, redact } = config.rules
  return {
    deniedTerms: findings.denylistHits.map((term) => denylist.indexOf(term)),
    hasNoAllowedTerm: isOffTopic(config, findings),
    personalData: redact ? findings.personalData : {},
  }
}

/** Checks run from the strongest decision to the weakest. Every replacement of a denial is stronger than a redaction. */
function strongest(
  config: GatewayConfiguration,
  findings: GatewayInput,
  isMatch: boolean,
): GatewayDecision['decision'] {
  if (isOffTopic(config, findings)) return 'refuse'
  if (isMatch) return replacementOf(config, findings)
  return config.rules.redact && hasPersonalData(findings) ? 'redact' : 'allow'
}

const hasPersonalData = ({ personalData }: GatewayInput): boolean =>
  Object.values(personalData).some((count) => count > 0)

/** The allowlist applies to requests only, because an answer need not repeat the terms of its request. */
const isOffTopic = ({ rules }: GatewayConfiguration, { direction, allowlistHits }: GatewayInput): boolean =>
  direction === 'request' && rules.allowlist.length > 0 && allowlistHits.length === 0

/** The configured replacement of a denial. Falls back to `refuse` if a rewrite is needed and no judge is available. */
const replacementOf = (config: GatewayConfiguration, { canRephrase }: GatewayInput): ResponsePattern =>
  isRephrasedBy(config) && !canRephrase ? 'refuse' : configuredPattern(config)

/** True if the configuration rewrites or sums up a text that matches, which needs a judge and the whole text. */
export function isRephrasedBy(config: GatewayConfiguration): boolean {
  const pattern = configuredPattern(config)
  return pattern === 'rewrite' || pattern === 'summary'
}

function configuredPattern({ rules, refusal_replacement: replacement }: GatewayConfiguration): ResponsePattern {
  const pattern = rules.response_pattern ?? replacement.mode ?? 'refuse'
  return pattern === 'refuse' && rules.rewrite_instead_of_refuse ? 'rewrite' : pattern
}

/** The first configured reason code that starts with the decision in capitals, or the decision in capitals. */
export function reasonCodeOf({ rules }: GatewayConfiguration, decision: AuditDecision): string {
  const prefix = codePrefixes[decision]
  for (const code of rules.reason_codes) if (code.toUpperCase().startsWith(prefix)) return code
  return prefix
}

const codePrefixes: Readonly<Record<AuditDecision, string>> = {
  allow: 'ALLOW',
  redact: 'REDACT',
  rewrite: 'REWRITE',
  summary: 'SUMMARY',
  escalate: 'ESCALATE',
  refuse: 'REFUSE',
  not_evaluated: 'NOT_EVALUATED',
}
