import { hash } from 'node:crypto'
import { all, andThen, sequentially, type MaybePromise } from '../../../base/maybe-promise.ts'
import type { TextDirection } from '../../scan/classify/classifier.ts'
import type { InjectionPlace } from '../../scan/injection/places.ts'
import type { ScanResult } from '../../scan/scan.ts'
import { createScanCache } from '../../scan/scan-cache.ts'
import type { RuleScore } from '../../policy/rule-score.ts'
import type { RuleFacts } from '../../policy/rule.ts'
import { injectionFacts, zeroScore, type Findings } from '../findings.ts'
import type { PrefilterOf } from './policy-prefilter.ts'
import type { Plan } from '../plan.ts'
import type { ActivePolicy } from '../rulebook.ts'

export type ScannedText = {
  readonly text: string
  /** The places that were scanned for prompt injections. */
  readonly places: readonly InjectionPlace[]
  readonly scan: ScanResult
  readonly findings: Findings
}

/** Scores texts against the policies of one plan. */
export type PolicyScorer = {
  readonly hasNoPolicies: boolean
  /** Versions of the policies, of their judge, and facts of the caller: the score of a text depends on nothing else. */
  cacheKey(): string
  /** One score per policy, in the order of the plan. */
  score(scanned: ScannedText): MaybePromise<readonly RuleScore[]>
}

export type PolicyScorerParts = {
  /** How many texts' scores are cached; 0 turns the cache off. */
  readonly cacheEntries: number
  /** Yields to the event loop. */
  readonly pause: () => Promise<unknown>
  readonly prefilterOf: PrefilterOf
}

/**
 * Caches scores by the scan of the text, so that the earlier turns of a chat cost one lookup each, however many policies
 * there are. Scores that a failure prevented are not cached.
 */
export function createPolicyScorer(parts: PolicyScorerParts): (plan: Plan, direction: TextDirection) => PolicyScorer {
  const { cacheEntries, pause, prefilterOf } = parts
  const cache = createScanCache<readonly RuleScore[]>(cacheEntries)
  const numberOf = createNumbering()
  const keys = createKeyNumbering(cacheEntries)
  return (plan, direction) => {
    const policies = plan.policies[direction]
    if (policies.length === 0) return withoutPolicies
    let key: string | undefined
    let keyNumber: number | undefined
    const cacheKey = (): string => (key ??= keyOf(plan, direction))
    const scoreUncached = (scanned: ScannedText): MaybePromise<readonly RuleScore[]> => {
      const facts = factsOf(plan, direction, scanned)
      const candidates = prefilterOf(policies).candidates(facts, pause)
      return andThen(candidates, (marks) => scoreCandidates({ policies, marks, facts, pause, plan }))
    }

    const score = (scanned: ScannedText): MaybePromise<readonly RuleScore[]> => {
      if (cacheEntries === 0) return scoreUncached(scanned)
      keyNumber ??= keys(cacheKey())
      const textKey = `${numberOf(scanned.scan)} ${keyNumber} ${scanned.places.join()}`
      const cached = cache.get(textKey)
      if (cached !== undefined) return cached
      return andThen(scoreUncached(scanned), (scores) => {
        if (scores.every((one) => 'basisPoints' in one || !one.isFailure)) cache.set(textKey, scores)
        return scores
      })
    }
    return { hasNoPolicies: false, cacheKey, score }
  }
}

const withoutPolicies: PolicyScorer = { hasNoPolicies: true, cacheKey: () => '', score: () => [] }

/** Numbers scan results. A cached scan is the same object, so its number identifies the text and the classifier. */
function createNumbering(): (scan: ScanResult) => number {
  const numbers = new WeakMap<ScanResult, number>()
  let last = 0
  return (scan) => {
    const known = numbers.get(scan)
    if (known !== undefined) return known
    numbers.set(scan, ++last)
    return last
  }
}

/** Numbers cache keys, so that the keys of the texts of a request are short. A key that is evicted gets a new number. */
function createKeyNumbering(maxKeys: number): (key: string) => number {
  const numbers = createScanCache<number>(maxKeys)
  let last = 0
  return (key) => {
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, ++last)
    return last
  }
}

/** Characters times rules between two yields to the event loop: a few milliseconds. */
const workPerYield = 1_000_000

type Scoring = {
  readonly policies: readonly ActivePolicy[]
  /** By policy: 1 if its rule must be evaluated. All others give 0. */
  readonly marks: Uint8Array
  readonly facts: RuleFacts
  readonly pause: () => Promise<unknown>
  readonly plan: Plan
}

/** Starts the rules without waiting for the slow ones, and yields to the event loop in between. */
function scoreCandidates({ policies, marks, facts, pause, plan }: Scoring): MaybePromise<readonly RuleScore[]> {
  const candidates: number[] = []
  for (let at = 0; at < marks.length; at++) if (marks[at] === 1) candidates.push(at)
  if (candidates.length === 0) return zerosFor(policies)
  const scores: MaybePromise<RuleScore>[] = [...zerosFor(policies)]
  const rulesPerYield = Math.max(1, Math.floor(workPerYield / (facts.text.length + 1)))
  let started = 0
  const start = (at: number): MaybePromise<unknown> => {
    scores[at] = policies[at]?.rule.score(facts, plan) ?? zeroScore
    started += 1
    return started % rulesPerYield === 0 ? pause() : undefined
  }
  return andThen(sequentially(candidates, start), () => all(scores))
}

const zeros = new WeakMap<readonly ActivePolicy[], readonly RuleScore[]>()

/** Shared by all texts, because most of them match no policy. */
function zerosFor(policies: readonly ActivePolicy[]): readonly RuleScore[] {
  const known = zeros.get(policies) ?? policies.map(() => zeroScore)
  zeros.set(policies, known)
  return known
}

const factsOf = (
  { facts }: Plan,
  direction: TextDirection,
  { text, places, scan, findings }: ScannedText,
): RuleFacts => ({
  ...facts,
  text,
  direction,
  categories: findings.scores,
  pii: findings.personalData,
  ...injectionFacts(scan, places),
})

const keyOf = ({ facts, policies }: Plan, direction: TextDirection): string =>
  `${direction} ${versionsOf(policies[direction])} ${hash('sha256', JSON.stringify(facts), 'base64url')}`

const digests = new WeakMap<readonly ActivePolicy[], string>()

function versionsOf(policies: readonly ActivePolicy[]): string {
  const known = digests.get(policies)
  if (known !== undefined) return known
  const versions = policies.map(({ versionId, rule }) => `${versionId} ${rule.judgeVersion ?? ''}`).join()
  const digest = hash('sha256', versions, 'base64url')
  digests.set(policies, digest)
  return digest
}
