import type { OnOwnModelCall } from '../inference/own-model-call.ts'
import type { Category } from '../scan/classify/categories.ts'
import type { LetterCase } from '../scan/detect/letter-case.ts'
import type { InjectionPlace } from '../scan/injection/places.ts'
import type { PersonalDataKind } from '../scan/detect/personal-data/kinds.ts'
import type { JudgeWindow } from './content.ts'
import type { RuleJudge } from './judge.ts'
import type { RuleScore } from './rule-score.ts'
import type { RuleFacts } from './rule.ts'

/**
 * How much of a streamed text a rule must see before earlier text may be sent: `whole`, a `paragraph` (see `judge-windows.ts`),
 * or the number of characters that a match can span. Personal data and patterns need no number because their search reports pending matches.
 */
export type LookBehind =
  | 'whole'
  | 'paragraph'
  | {
      readonly characters: number
      readonly personalData: boolean
      readonly patterns: boolean
      /** True if all matches begin at the start of the text: a part of it that begins later must not be evaluated. */
      readonly isAtStart?: boolean
    }

/** Something in a text, its scores or its personal data without which a rule cannot match. */
export type RuleTrigger =
  /** The text contains these characters, as they are or in lower or upper case. */
  | { readonly kind: 'literal'; readonly text: string }
  /** The text, or a text encoded in it, contains this phrase as it would contain a term of a deny list. */
  | { readonly kind: 'phrase'; readonly text: string }
  | {
      readonly kind: 'pattern'
      readonly source: string
      /** Every match contains it, in any case of ASCII letters. */
      readonly literal: string | undefined
      /** The case of the text in which the pattern is searched. */
      readonly letterCase: LetterCase | undefined
    }
  | { readonly kind: 'category'; readonly name: Category; readonly atLeast: number }
  /** The score of the rule may be the score of this category. */
  | { readonly kind: 'category_score'; readonly name: Category }
  | { readonly kind: 'personal_data'; readonly name: PersonalDataKind; readonly atLeast: number }
  | { readonly kind: 'prompt_injection'; readonly name: InjectionPlace; readonly atLeast: number }

/** A necessary condition: without any of the triggers, a rule gives a text of up to `maxCharacters` a score of 0 and does not fail. */
export type RuleCondition = { readonly anyOf: readonly RuleTrigger[]; readonly maxCharacters: number }

export const ruleNameKinds = ['variable', 'category', 'personal_data', 'prompt_injection', 'phrase', 'pattern'] as const

/** Something that a rule reads or names: a variable, a moderation category, a kind of personal data, a place of prompt injections, a phrase or a pattern. */
export type RuleName = { readonly kind: (typeof ruleNameKinds)[number]; readonly name: string }

/** What evaluates a rule: its expression, the judge model, or a search for what it names. */
export const ruleEvaluators = ['expression', 'judge', 'names'] as const
export type RuleEvaluator = (typeof ruleEvaluators)[number]

/** The rule of one version, compiled once and evaluated for every text. */
export type CompiledRule = {
  readonly lookBehind: LookBehind
  /** Undefined if nothing can evaluate the rule. */
  readonly evaluator: RuleEvaluator | undefined
  /** The judge that evaluates the rule, with its version. */
  readonly judgeVersion?: string | undefined
  /** Whether a text passes if the evaluation fails. Undefined: as the configuration says. */
  readonly failsOpen?: boolean | undefined
  readonly names: readonly RuleName[]
  /** The categories whose scores the rule reads. */
  readonly categories: readonly Category[]
  /** The places whose scores of prompt injections the rule reads. */
  readonly injectionPlaces: readonly InjectionPlace[]
  /** Undefined if none is known: the rule may then match any text. */
  readonly condition: RuleCondition | undefined
  /** Never throws: a failure is returned as a score with `notEvaluated`. */
  score(facts: RuleFacts, caller?: RuleCaller): RuleScore | Promise<RuleScore>
}

/** What a rule is evaluated for. */
export type RuleCaller = {
  readonly onModelCall?: OnOwnModelCall | undefined
  /** Undefined if no request is evaluated, but a simulation or a backtest. */
  readonly requestId?: string | undefined
}

/** A rule that passed `checkRule` when it was saved. */
export type RuleSource = {
  readonly rule: string
  /** The key under which verdicts are cached. */
  readonly versionId: string
  readonly organizationId: string
  readonly judgeWindow: JudgeWindow
  /** An expression; a judge is asked only about texts for which it is true. Empty: about all. */
  readonly judgeWhen?: string
  /** The policy and its threshold, for what is counted of its judge. */
  readonly policyId?: string
  readonly threshold?: number
  /** The judge of the organization. By default the one of the configuration, if there is one. */
  readonly judge?: RuleJudge | undefined
}

export type CompileRule = (source: RuleSource) => CompiledRule
