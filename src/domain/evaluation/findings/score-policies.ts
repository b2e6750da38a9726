import { hash } from 'node:crypto'
import { all, andThen, sequentially, type MaybePromise } from '../../../base/maybe-promise.ts'
import type { TextDirection } from '../../moderation/classifier.ts'
import type { Scan } from '../../moderation/scan.ts'
import { createScanCache } from '../../moderation/scan-cache.ts'
import type { RuleScore } from '../../policy/compiled-rule.ts'
import type { RuleFacts } from '../../policy/rule.ts'
import type { Findings } from './findings.ts'
import type { Plan } from '../rules/plan.ts'
import type { ActivePolicy } from '../rules/rulebook.ts'

/** A text with what the screening found in it. */
export type ScannedText = { readonly text: string; readonly screening: Scan; readonly findings: Findings }

/** Asks the policies of a plan about texts. */
export type PolicyScorer = {
  /** There are no policies to ask. */
  readonly isIdle: boolean
  /** Who is asked on whose behalf: what they say to a text depends on nothing else. */
  asking(): string
  /** One score per policy, in its order. */
  score(screened: ScannedText): MaybePromise<readonly RuleScore[]>
}

/**
 * What policies said is remembered by the screening of the text, so that the turns of a chat that were judged before cost
 * one look-up, however many policies there are. What could not be judged is asked again.
 */
export function createPolicyScorer(
  memory: number,
  pause: () => Promise<unknown>,
): (plan: Plan, direction: TextDirection) => PolicyScorer {
  const known = createScanCache<readonly RuleScore[]>(memory)
  const numberOf = createNumbering()
  return (plan, direction) => {
    const policies = plan.policies[direction]
    if (policies.length === 0) return idle
    let spelled: string | undefined
    const asking = (): string => (spelled ??= keyOf(plan, direction))
    const askAbout = (screened: ScannedText): MaybePromise<readonly RuleScore[]> =>
      askAll(policies, factsOf(plan, direction, screened), pause)

    const score = (screened: ScannedText): MaybePromise<readonly RuleScore[]> => {
      if (memory === 0) return askAbout(screened)
      const key = `${numberOf(screened.screening)} ${asking()}`
      const remembered = known.recall(key)
      if (remembered !== undefined) return remembered
      return andThen(askAbout(screened), (scores) => {
        if (scores.every((one) => 'basisPoints' in one || !one.isFailure)) known.remember(key, scores)
        return scores
      })
    }
    return { isIdle: false, asking, score }
  }
}

/** Asks nobody. */
const idle: PolicyScorer = { isIdle: true, asking: () => '', score: () => [] }

/** Numbers screenings: one that is remembered is the same object, and stands for its text and for who judged it. */
function createNumbering(): (screening: Scan) => number {
  const numbers = new WeakMap<Scan, number>()
  let last = 0
  return (screening) => {
    const known = numbers.get(screening)
    if (known !== undefined) return known
    numbers.set(screening, ++last)
    return last
  }
}

/** So many characters times rules are read before others get their turn: some milliseconds. */
const turn = 1_000_000

/** Asks all at once, those who answer later too, but for giving way in between. */
function askAll(
  policies: readonly ActivePolicy[],
  facts: RuleFacts,
  pause: () => Promise<unknown>,
): MaybePromise<readonly RuleScore[]> {
  const asked: MaybePromise<RuleScore>[] = []
  const perTurn = Math.max(1, Math.floor(turn / (facts.text.length + 1)))
  const ask = ({ rule }: ActivePolicy): MaybePromise<unknown> =>
    asked.push(rule.score(facts)) % perTurn === 0 ? pause() : undefined
  return andThen(sequentially(policies, ask), () => all(asked))
}

const factsOf = ({ facts }: Plan, direction: TextDirection, { text, findings }: ScannedText): RuleFacts => ({
  ...facts,
  text,
  direction,
  categories: findings.scores,
  pii: findings.personalData,
})

const keyOf = ({ facts, policies }: Plan, direction: TextDirection): string =>
  `${direction} ${versionsOf(policies[direction])} ${hash('sha256', JSON.stringify(facts), 'base64url')}`

const digests = new WeakMap<readonly ActivePolicy[], string>()

function versionsOf(policies: readonly ActivePolicy[]): string {
  const known = digests.get(policies)
  if (known !== undefined) return known
  const versions = policies.map(({ versionId }) => versionId).join()
  const digest = hash('sha256', versions, 'base64url')
  digests.set(policies, digest)
  return digest
}
