import { hash } from 'node:crypto'
import type { Direction } from '../moderation/classifier.ts'
import { createVerdictMemory } from '../moderation/verdict-memory.ts'
import type { RuleScore } from '../policy/compiled-rule.ts'
import type { RuleFacts } from '../policy/rule.ts'
import type { Findings } from './findings.ts'
import type { Plan } from './plan.ts'
import type { ActivePolicy } from './rulebook.ts'

/** A text with what the screening found in it. */
export type Screened = { readonly text: string; readonly findings: Findings }

/** One score per policy of the plan, in its order. */
export type ScorePolicies = (plan: Plan, direction: Direction, screened: Screened) => Promise<readonly RuleScore[]>

/**
 * Asks every policy about a text. What they said is remembered by the text's hash, so that the turns of a chat that were
 * judged before cost one look-up, however many policies there are. What could not be judged is asked again.
 */
export function createScorePolicies(memory: number, pause: () => Promise<unknown>): ScorePolicies {
  const known = createVerdictMemory<readonly RuleScore[]>(memory)
  return async (plan, direction, screened) => {
    const policies = plan.policies[direction]
    if (policies.length === 0) return []
    const key = keyOf(plan, direction, screened)
    const remembered = known.recall(key)
    if (remembered !== undefined) return remembered
    const facts = factsOf(plan, direction, screened)
    const scores = await askAll(policies, facts, pause)
    if (scores.every((score) => 'basisPoints' in score || !score.isFailure)) known.remember(key, scores)
    return scores
  }
}

/** So many characters times rules are read before others get their turn: some milliseconds. */
const turn = 1_000_000

/** Asks all at once, those who answer later too, but for giving way in between. */
async function askAll(
  policies: readonly ActivePolicy[],
  facts: RuleFacts,
  pause: () => Promise<unknown>,
): Promise<readonly RuleScore[]> {
  const asked: Promise<RuleScore>[] = []
  const perTurn = Math.max(1, Math.floor(turn / (facts.text.length + 1)))
  for (const { rule } of policies) {
    asked.push(Promise.resolve(rule.score(facts)))
    if (asked.length % perTurn === 0) await pause()
  }
  return Promise.all(asked)
}

const factsOf = ({ facts }: Plan, direction: Direction, { text, findings }: Screened): RuleFacts => ({
  ...facts,
  text,
  direction,
  categories: findings.scores,
  pii: findings.personalData,
})

function keyOf(plan: Plan, direction: Direction, { text, findings }: Screened): string {
  // The scores too: another classifier may have judged the same text.
  const judged = JSON.stringify([plan.facts, Object.values(findings.scores), text])
  return `${direction} ${versionsOf(plan.policies[direction])} ${hash('sha256', judged, 'base64url')}`
}

const spelled = new WeakMap<readonly ActivePolicy[], string>()

function versionsOf(policies: readonly ActivePolicy[]): string {
  const known = spelled.get(policies)
  if (known !== undefined) return known
  const versions = policies.map(({ versionId }) => versionId).join()
  const digest = hash('sha256', versions, 'base64url')
  spelled.set(policies, digest)
  return digest
}
