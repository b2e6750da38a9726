import { hash } from 'node:crypto'
import { andThen, inTurn, type Eventually } from '../../base/eventually.ts'
import { createVerdictMemory } from '../moderation/verdict-memory.ts'
import { isCalm, joinFound, type Found } from './found.ts'

/** Texts that are looked at, and the rules that they are looked at by: in one line, the same for the same rules. */
export type Looking = {
  readonly texts: readonly string[]
  readonly rules: () => string
  readonly lookAt: (texts: readonly string[]) => Eventually<Found>
}

/** So many texts make a run: the turns of a chat stand in the same runs, however long it has become. */
const runTexts = 16

/**
 * Each turn of a chat brings all that was said before. Texts are taken in runs, and a run in which all was calm under the
 * same rules is remembered as a whole: it costs one hash, and nothing for each of its texts.
 */
export function createCalmRuns(memory: number): (looking: Looking) => Eventually<Found> {
  const known = createVerdictMemory<Found>(Math.ceil(memory / runTexts))

  return ({ texts, rules, lookAt }) => {
    if (memory === 0 || texts.length < runTexts) return lookAt(texts)
    const inForce = rules()
    const found: Found[] = []
    const lookAtRun = (run: readonly string[]): Eventually<unknown> =>
      andThen(run.length < runTexts ? lookAt(run) : recallOr(lookAt, run, inForce), (one) => found.push(one))
    return andThen(inTurn(runsOf(texts), lookAtRun), () => joinFound(found))
  }

  function recallOr(lookAt: Looking['lookAt'], run: readonly string[], rules: string): Eventually<Found> {
    const key = keyOf(run, rules)
    const remembered = known.recall(key)
    if (remembered !== undefined) return remembered
    return andThen(lookAt(run), (found) => {
      // Calm texts have the same scores: those of one stand for all.
      if (isCalm(found)) known.remember(key, { ...found, scores: found.scores.slice(0, 1) })
      return found
    })
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
