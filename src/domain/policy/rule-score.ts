/** Basis points from 0 to 10,000, or the reason why there is no score. A missing score is never a pass. */
export type RuleScore =
  | {
      readonly basisPoints: number
      /** The guard of the policy kept the text from the judge. */
      readonly isSkipped?: true
    }
  | {
      readonly notEvaluated: string
      /** True if an evaluation failed. False if this service has no way to evaluate the rule. */
      readonly isFailure: boolean
      /** The highest score of the parts of the text that were evaluated, if a part was. */
      readonly partBasisPoints?: number
    }
