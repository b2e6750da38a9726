import type { OnOwnModelCall } from '../inference/own-model-call.ts'
import type { RuleScore } from './rule-score.ts'

/** A text, and the rule in plain language that it may break. */
export type JudgeRequest = {
  readonly organizationId: string
  /** Empty for a rule of no policy. */
  readonly policyId: string
  readonly versionId: string
  readonly rule: string
  readonly text: string
  readonly direction: string
  /** The score from which the policy matches. */
  readonly threshold: number
  /** The request that the text is of; undefined if it is evaluated without one, as in a backtest. */
  readonly requestId?: string | undefined
  /** Called for each call to the model. Not called for a cached score. */
  readonly onModelCall?: OnOwnModelCall | undefined
}

/** The port to a model that evaluates rules. Never throws: a failure is returned as a score with `notEvaluated`. */
export type Judge = (request: JudgeRequest) => Promise<RuleScore>

/** The judge that an organization uses. */
export type RuleJudge = {
  /** Names the judge in audit events. Scores of another version are not comparable, so caches have it in their keys. */
  readonly version: string
  /** Whether a text passes if the judge fails. Undefined: as the configuration says. */
  readonly failsOpen?: boolean
  readonly ask: Judge
  /** Called for a text that the guard of its policy keeps from the judge. */
  readonly onSkipped?: (of: Pick<JudgeRequest, 'organizationId' | 'policyId'>) => void
}
