import { hash } from 'node:crypto'
import { andThen, sequentially, type MaybePromise } from '../../../base/maybe-promise.ts'
import { createScanCache } from '../../scan/scan-cache.ts'
import { isClean, joinCollected, type CollectedFindings } from '../findings.ts'

/** Texts per run. The turns of a chat fall into the same runs, however long the chat has become. */
const runLength = 16
/** Runs between two yields to the event loop. A run that is not cached yields while it is scanned. */
const runsPerYield = 64

export type RulesKey = {
  /** Equal for equal rules. */
  readonly key: string
  /** What the findings of a text depend on besides the rules and the text. */
  readonly ofText: (text: string) => string
}

type ScanRun = (texts: readonly string[]) => MaybePromise<CollectedFindings>

/**
 * Each turn of a chat sends all earlier turns again. Texts are grouped in runs, and a run that was clean under the same
 * rules is cached as a whole: it costs one hash and no work per text.
 */
export type CleanRunCache = {
  /** True if the texts hold at least one complete run. */
  hasRun(texts: readonly string[]): boolean
  /** Scans the runs that are not cached as clean. */
  getOrScan(texts: readonly string[], rules: RulesKey, scan: ScanRun): MaybePromise<CollectedFindings>
}

export function createCleanRunCache(cacheEntries: number, pause: () => Promise<unknown>): CleanRunCache {
  const cache = createScanCache<CollectedFindings>(Math.ceil(cacheEntries / runLength))

  function getRunOrScan(run: readonly string[], rules: RulesKey, scan: ScanRun): MaybePromise<CollectedFindings> {
    if (run.length < runLength) return scan(run)
    const key = keyOf(run, rules)
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    return andThen(scan(run), (collected) => {
      // Clean texts have equal scores, so one entry stands for all.
      if (isClean(collected) && !collected.isProvisional)
        cache.set(key, { ...collected, scores: collected.scores.slice(0, 1) })
      return collected
    })
  }
  return {
    hasRun: (texts) => cacheEntries > 0 && texts.length >= runLength,
    getOrScan(texts, rules, scan) {
      const batches: CollectedFindings[] = []
      const add = (run: readonly string[]): MaybePromise<unknown> =>
        andThen(getRunOrScan(run, rules, scan), (batch) =>
          batches.push(batch) % runsPerYield === 0 ? pause() : undefined,
        )
      return andThen(sequentially(runsOf(texts), add), () => joinCollected(batches))
    },
  }
}

function runsOf(texts: readonly string[]): readonly (readonly string[])[] {
  const runs: (readonly string[])[] = []
  for (let at = 0; at < texts.length; at += runLength) runs.push(texts.slice(at, at + runLength))
  return runs
}

/** Includes the length of each text, so that no other split of the same characters gives the same key. */
function keyOf(run: readonly string[], { key, ofText }: RulesKey): string {
  let all = key
  for (const text of run) all += `\n${text.length} ${ofText(text)} ${text}`
  return hash('sha256', all, 'base64url')
}
