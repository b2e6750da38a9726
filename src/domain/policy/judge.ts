import type { OnOwnModelCall } from '../inference/own-model-call.ts'
import type { RuleScore } from './compiled-rule.ts'

/** A text, and the rule in plain language that it may break. */
export type JudgeRequest = {
  readonly versionId: string
  readonly rule: string
  readonly text: string
  readonly direction: string
  /** Called for each call to the model. Not called for a cached score. */
  readonly onModelCall?: OnOwnModelCall | undefined
}

/** The port to a model that evaluates rules. Never throws: a failure is returned as a score with `notEvaluated`. */
export type Judge = (request: JudgeRequest) => Promise<RuleScore>
