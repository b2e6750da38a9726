import type { RuleFacts } from './rule.ts'

/** Basis points from 0 to 10,000, or the reason why there is no score. A missing score is never a pass. */
export type RuleScore =
  | { readonly basisPoints: number }
  | {
      readonly notEvaluated: string
      /** True if an evaluation failed. False if this service has no way to evaluate the rule. */
      readonly isFailure: boolean
    }

/**
 * How much of a streamed text a rule must see before earlier text may be sent: `whole`, or the number of characters that
 * a match can span. Personal data needs no number because its scan reports pending matches.
 */
export type LookBehind = 'whole' | { readonly characters: number; readonly personalData: boolean }

/** The rule of one version, compiled once and evaluated for every text. */
export type CompiledRule = {
  readonly lookBehind: LookBehind
  /** Never throws: a failure is returned as a score with `notEvaluated`. */
  score(facts: RuleFacts): RuleScore | Promise<RuleScore>
}

/** A rule that passed `checkRule` when it was saved. */
export type RuleSource = {
  readonly rule: string
  /** The key under which verdicts are cached. */
  readonly versionId: string
  readonly organizationId: string
}

export type CompileRule = (source: RuleSource) => CompiledRule
