/** Why a request was decided as it was, and what would have changed it. */
import type { AuditDecision, Check, ClassifierFacts } from '../audit/event/verdict.ts'
import type { RestoreLoss } from '../audit/event/restorable.ts'
import { evidenceKinds } from '../evaluation/evidence.ts'
import type { Decision } from '../evaluation/verdict/combine.ts'
import type { TextDirection } from '../scan/classify/classifier.ts'
import type { RecordedOutcome } from './recorded-outcomes.ts'

/**
 * What an explanation is based on: the facts of the event alone, the kept texts evaluated again by the versions of that time, or
 * a text that was sent along and may be another one.
 */
export const explanationBases = ['record', 'rerun', 'rerun_of_sent_text'] as const

export type Explanation = {
  readonly decision: AuditDecision
  readonly effectiveDecision: Decision['effect']
  readonly isEnforced: boolean
  /** Null if the request was rejected before the checks. */
  readonly direction: TextDirection | null
  readonly basis: (typeof explanationBases)[number]
  /** Null if every check allowed it. */
  readonly deciding: DecidingCheck | null
  readonly versions: DecidingVersions
  readonly evidence: readonly ExplanationEvidence[]
  /** Every other check that ran. */
  readonly others: readonly OtherCheck[]
  readonly nearest: readonly NearestChange[]
  /** What the rerun decided otherwise than the record. */
  readonly differs: readonly Difference[]
  /** What the rerun lacked. */
  readonly incomplete: readonly RerunLoss[]
}

export type DecidingCheck = {
  readonly check: Check
  readonly policy: { readonly id: string | null; readonly name: string | null; readonly version: number | null }
  readonly reasonCode: string | null
  readonly scoreBasisPoints: number | null
  readonly thresholdBasisPoints: number | null
  /** The exception that let the request through. */
  readonly exceptionId: string | null
  readonly rollout: {
    readonly mode: string | null
    /** The share of subjects in a shadow or canary; null without one. */
    readonly percent: number | null
    readonly side: (typeof rolloutSides)[number]
  }
}

/** Whether the request was on the side that the check is enforced for. */
export const rolloutSides = ['enforced', 'observed'] as const

/** The rules engine is a part of the product, and has its version. */
export type DecidingVersions = {
  readonly gatewayConfig: number | null
  readonly classifier: ClassifierFacts | null
  /** The model and a digest of the prompt. */
  readonly judge: string | null
  readonly product: string
}

export const explanationEvidenceKinds = [...evidenceKinds, 'expression'] as const

export type ExplanationEvidence = {
  readonly kind: (typeof explanationEvidenceKinds)[number]
  readonly check: Check
  readonly policyId: string | null
  /** The term, category, kind of personal data, phrase, pattern, variable or part of an expression. */
  readonly name: string
  /** The text, such as `messages[3].content[0]` or `response`; null if it is not in a text. */
  readonly part: string | null
  readonly start: number | null
  readonly end: number | null
  /** The text of the range, or the value of a variable. Callers may have written it. */
  readonly quote: string | null
  readonly scoreBasisPoints: number | null
  /** A number, or what a part of an expression is. It has no words of a text. */
  readonly value: string | null
}

export type OtherCheck = RecordedOutcome & {
  /** What would have happened if it were the only check. */
  readonly alone: Decision['effect']
}

export const nearestChanges = ['threshold', 'without_text', 'without_check'] as const

/** One change with which the request would have passed. */
export type NearestChange = {
  readonly change: (typeof nearestChanges)[number]
  /** The check or policy that is changed or left out; null for a change of the text. */
  readonly check: Check | null
  readonly policyId: string | null
  readonly thresholdBasisPoints: number | null
  readonly part: string | null
  readonly start: number | null
  readonly end: number | null
  readonly quote: string | null
  readonly effect: Decision['effect']
  /** False: the response ended at this denial and no text of it is kept, so a later part may be denied as well. */
  readonly isVerified: boolean
  readonly alsoAffects: AlsoAffected | null
}

/** Other requests that a threshold would have let through. */
export type AlsoAffected = {
  readonly requests: number
  /** Denials of the policy that were read. */
  readonly checked: number
  /** False if there are more. */
  readonly isComplete: boolean
}

export type Difference = {
  readonly field: string
  readonly recorded: string | number | null
  readonly rerun: string | number | null
}

export const rerunLosses = ['metadata', 'policy_version', 'gateway_version', 'judge', 'request', 'response'] as const
export type RerunLoss = RestoreLoss | (typeof rerunLosses)[number]
