import type { RuleFacts } from './rule.ts'

/** Basis points from 0 to 10,000; or why nothing could be said, which is never the same as a pass. */
export type RuleScore =
  | { readonly basisPoints: number }
  | {
      readonly notEvaluated: string
      /** Something failed that should have judged. False where nothing here can judge such a rule at all. */
      readonly isFailure: boolean
    }

/**
 * How much of a growing text a rule must see before what came earlier may leave: `whole`, or the characters that a match
 * can span. Personal data settles by itself, so it needs no number.
 */
export type LookBehind = 'whole' | { readonly characters: number; readonly personalData: boolean }

/** The rule of one version, ready to be asked as often as there are texts. */
export type CompiledRule = {
  readonly lookBehind: LookBehind
  /** Never throws: what goes wrong is a score of its own. */
  score(facts: RuleFacts): RuleScore | Promise<RuleScore>
}

/** A rule that was checked when it was saved. */
export type RuleSource = {
  readonly rule: string
  /** Verdicts are remembered under it. */
  readonly versionId: string
  readonly organizationId: string
}

export type CompileRule = (source: RuleSource) => CompiledRule
