/** What the draft says about one request, and what became of the request when it was made. */
export type ReplayResult = {
  /** In basis points; of several texts, the highest. */
  readonly score: number
  /** The rule could not be judged for all of them. */
  readonly isUnjudged: boolean
  readonly wasBlocked: boolean
  /** By the policy whose draft it is. */
  readonly wasByThis: boolean
  /** Personal data had been taken out of the texts. */
  readonly isRedacted: boolean
}
