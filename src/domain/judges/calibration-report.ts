import type { BoundedShare } from './agreement.ts'

/** What a calibration found. Stored and returned by the API as is, so its fields use the API's names. */
export type CalibrationReport = {
  /** Labels with an answer in each round. */
  readonly labels: number
  /** How often the judge said the same again, of the labels; below 90 % the rest says nothing. */
  readonly self_agreement: BoundedShare
  readonly consistent: boolean
  readonly agreement_bp: number
  /** How many of the labels are expected to match. */
  readonly base_rate_bp: number
  readonly kappa: number | null
  /** Undefined in a report from before appeals counted: all of its labels were cases. */
  readonly by_source?: { readonly cases: SourceFigures; readonly appeals: SourceFigures }
  /** Of the texts that should match, those that do; and of those that should not, those that do not. */
  readonly true_positives: BoundedShare
  readonly true_negatives: BoundedShare
  readonly injections: { readonly passed: number; readonly of: number }
  readonly failures: { readonly found: number; readonly of: number }
  readonly p95_ms: number
  readonly usd: number
  readonly usd_per_1000: number
  /** By rule, the most first. */
  readonly disagreements: readonly {
    readonly policy_id: string
    readonly count: number
    readonly labels: number
    readonly cases: readonly (Disagreement & { readonly case_id: string })[]
    /** Undefined in a report from before appeals counted. */
    readonly appeals?: readonly (Disagreement & { readonly appeal_id: string })[]
  }[]
}

/** What is so of the labels of one kind. */
export type SourceFigures = Pick<CalibrationReport, 'labels' | 'agreement_bp' | 'base_rate_bp' | 'kappa'>

type Disagreement = {
  readonly expected: string
  readonly got: string
  readonly score_bp: number
}
