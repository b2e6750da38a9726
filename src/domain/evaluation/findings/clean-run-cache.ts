import { hash } from 'node:crypto'
import { andThen, sequentially, type MaybePromise } from '../../../base/maybe-promise.ts'
import { createScanCache } from '../../moderation/scan-cache.ts'
import { isClean, joinTextFindings, type TextFindings } from './text-findings.ts'

/** So many texts make a run: the turns of a chat stand in the same runs, however long it has become. */
const runTexts = 16
/** So many runs are gone through before others get their turn: what is not remembered gives way by itself. */
const turnRuns = 64

type LookAt = (texts: readonly string[]) => MaybePromise<TextFindings>

/**
 * Each turn of a chat brings all that was said before. Texts are taken in runs, and a run in which all was calm under the
 * same rules is remembered as a whole: it costs one hash, and nothing for each of its texts.
 */
export type CleanRunCache = {
  /** Whether there is a run in these texts that can be remembered. */
  areIn(texts: readonly string[]): boolean
  /** Looks at what is not known to be calm. `rules` is one line, the same for the same rules. */
  recallOr(texts: readonly string[], rules: string, lookAt: LookAt): MaybePromise<TextFindings>
}

export function createCleanRunCache(memory: number, pause: () => Promise<unknown>): CleanRunCache {
  const known = createScanCache<TextFindings>(Math.ceil(memory / runTexts))

  function recallRunOr(run: readonly string[], rules: string, lookAt: LookAt): MaybePromise<TextFindings> {
    if (run.length < runTexts) return lookAt(run)
    const key = keyOf(run, rules)
    const remembered = known.recall(key)
    if (remembered !== undefined) return remembered
    return andThen(lookAt(run), (found) => {
      // Calm texts have the same scores: those of one stand for all.
      if (isClean(found) && !found.isProvisional) known.remember(key, { ...found, scores: found.scores.slice(0, 1) })
      return found
    })
  }
  return {
    areIn: (texts) => memory > 0 && texts.length >= runTexts,
    recallOr(texts, rules, lookAt) {
      const found: TextFindings[] = []
      const take = (run: readonly string[]): MaybePromise<unknown> =>
        andThen(recallRunOr(run, rules, lookAt), (one) => (found.push(one) % turnRuns === 0 ? pause() : undefined))
      return andThen(sequentially(runsOf(texts), take), () => joinTextFindings(found))
    },
  }
}

function runsOf(texts: readonly string[]): readonly (readonly string[])[] {
  const runs: (readonly string[])[] = []
  for (let at = 0; at < texts.length; at += runTexts) runs.push(texts.slice(at, at + runTexts))
  return runs
}

/** With their lengths, so that no other texts read the same. */
function keyOf(run: readonly string[], rules: string): string {
  let all = rules
  for (const text of run) all += `\n${text.length} ${text}`
  return hash('sha256', all, 'base64url')
}
