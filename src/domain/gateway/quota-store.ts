import type { QuotaClaim } from './quota.ts'

/** What was used of quotas, exact over all nodes. */
export type QuotaStore = {
  /**
   * Counts one request and its tokens under every claim where all of them have room; otherwise under none, and answers
   * the first that has not.
   */
  take(claims: readonly QuotaClaim[], tokens: number): Promise<QuotaClaim | undefined>
  /** Adds to the tokens of a request that was taken; what was estimated too high is taken back with a negative number. */
  correct(claims: readonly QuotaClaim[], tokens: number): Promise<void>
  /** Forgets windows that ended before this time. */
  removeEnded(beforeMs: number): Promise<void>
}
