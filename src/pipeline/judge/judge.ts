import { hash } from 'node:crypto'
import { isFault } from '../../base/fault.ts'
import type { Random } from '../../base/random.ts'
import { createScanCache } from '../../domain/moderation/scan-cache.ts'
import type { RuleScore } from '../../domain/policy/compiled-rule.ts'
import type { Judge, JudgeRequest } from '../../domain/policy/judge.ts'
import { judgePrompt, readScore } from '../../domain/policy/judge-prompt.ts'
import type { AskModel } from './ask-model.ts'

export type JudgeParts = {
  readonly ask: AskModel
  readonly random: Random
  readonly timeoutMs: number
  /** How many verdicts are remembered. */
  readonly cacheEntries: number
  /** Told how each question ended that was not answered from memory. */
  readonly onResult: (result: JudgeResult) => void
}

export const judgeResults = [
  'judged',
  'judge_timeout',
  'judge_failed',
  'judge_unreadable',
  'judge_unavailable',
  'text_too_long',
] as const
export type JudgeResult = (typeof judgeResults)[number]

/** Characters that are judged at once, how many of them the next part repeats, and how many parts a text may have. */
const partCharacters = 16_000
const overlapCharacters = 1_000
const mostParts = 16

/** Room for the score and some white space; a model that wants to explain itself is cut short. */
const maxOutputTokens = 128

type JudgeOutcome = { readonly result: JudgeResult; readonly score: RuleScore }

/**
 * A judge that is a model. The same question asked twice at once is asked once; what was judged is remembered by the
 * version and the text; what went wrong is asked again.
 */
export function createJudge({ ask, random, timeoutMs, cacheEntries: memory, onResult: onVerdict }: JudgeParts): Judge {
  const verdicts = createScanCache<RuleScore>(memory)
  const underway = new Map<string, Promise<RuleScore>>()

  return (question) => {
    const key = keyOf(question)
    const known = verdicts.get(key)
    if (known !== undefined) return Promise.resolve(known)
    const shared = underway.get(key)
    if (shared !== undefined) return shared
    const asking = judge(question).then(({ result, score }) => {
      underway.delete(key)
      if (result === 'judged') verdicts.set(key, score)
      onVerdict(result)
      return score
    })
    underway.set(key, asking)
    return asking
  }

  async function judge(question: JudgeRequest): Promise<JudgeOutcome> {
    const parts = partsOf(question.text)
    if (parts.length > mostParts) return failure('text_too_long')
    const others = new AbortController()
    try {
      const scores = await Promise.all(parts.map((text) => scorePart({ ...question, text }, others.signal)))
      return { result: 'judged', score: { basisPoints: Math.round(Math.max(...scores) * 10_000) } }
    } catch (error) {
      others.abort(error) // of a text that cannot be judged as a whole, no part is worth its price
      return failure(resultOf(error))
    }
  }

  async function scorePart({ rule, text, direction }: JudgeRequest, signal: AbortSignal): Promise<number> {
    const mark = Buffer.from(random.bytes(16)).toString('hex')
    const answer = await ask({ ...judgePrompt({ rule, text, direction, mark }), maxOutputTokens, timeoutMs }, signal)
    const score = readScore(answer)
    if (score === undefined) throw new Unreadable()
    return score
  }
}

class Unreadable extends Error {}

const failure = (result: JudgeResult): JudgeOutcome => ({ result, score: { notEvaluated: result, isFailure: true } })

function resultOf(error: unknown): JudgeResult {
  if (error instanceof Unreadable) return 'judge_unreadable'
  if (!isFault(error)) return 'judge_failed'
  if (error.kind === 'upstream_timeout') return 'judge_timeout'
  return error.kind === 'unavailable' ? 'judge_unavailable' : 'judge_failed'
}

const keyOf = ({ versionId, direction, text }: JudgeRequest): string =>
  `${versionId} ${direction} ${hash('sha256', text, 'base64url')}`

/** Parts that overlap, so that nothing is lost at a cut. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = []
  for (let start = 0; ; start += partCharacters - overlapCharacters) {
    parts.push(text.slice(start, start + partCharacters).toWellFormed())
    if (start + partCharacters >= text.length) return parts
  }
}
