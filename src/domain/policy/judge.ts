import type { RuleScore } from './compiled-rule.ts'

/** Whether a text breaks a rule in plain language. */
export type JudgeRequest = {
  readonly versionId: string
  readonly rule: string
  readonly text: string
  readonly direction: string
}

/** The port to a model that understands rules. Never throws: what goes wrong is a score of its own. */
export type Judge = (question: JudgeRequest) => Promise<RuleScore>
