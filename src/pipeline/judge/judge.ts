import { hash } from 'node:crypto'
import { isFault } from '../../base/fault.ts'
import type { Random } from '../../base/random.ts'
import type { ScanCache } from '../../domain/scan/scan-cache.ts'
import type { RuleScore } from '../../domain/policy/rule-score.ts'
import type { Judge, JudgeRequest } from '../../domain/policy/judge.ts'
import { readScore, type JudgePrompt, type JudgePromptInput } from '../../domain/policy/judge-prompt.ts'
import type { AnsweredModel, CallModel } from './call-model.ts'

export type JudgeParts = {
  readonly callModel: CallModel
  readonly random: Random
  readonly timeoutMs: number
  readonly promptOf: (input: JudgePromptInput) => JudgePrompt
  /** Names the judge in keys of the cache, which several judges share. */
  readonly name: string
  /** Scores by judge, version of the policy and text. */
  readonly cache: ScanCache<RuleScore>
  readonly temperature?: number
  readonly maxOutputTokens?: number
  /** Called with the result of each call that was not answered from the cache. */
  readonly onResult: (result: JudgeResult, request: JudgeRequest, score: RuleScore) => void
  /** Called for each request that was answered from the cache. */
  readonly onRemembered?: (request: JudgeRequest) => void
  /** Called for each call that costs something, with what it cost. */
  readonly onSpent?: (request: JudgeRequest, usd: number, answered: AnsweredModel | undefined) => void
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

/** A long text is judged in overlapping parts, up to a maximum number of parts. */
const partCharacters = 16_000
const overlapCharacters = 1_000
const maxParts = 16

/** Enough for the score and some white space. */
const defaultOutputTokens = 128

type JudgeOutcome = { readonly result: JudgeResult; readonly score: RuleScore }

/**
 * A judge backed by a model. Concurrent calls for the same rule version and text share one model call. Scores are cached by
 * judge, version and text; failures are not.
 */
export function createJudge(parts: JudgeParts): Judge {
  const { callModel, random, timeoutMs, cache, onResult } = parts
  const { temperature, maxOutputTokens = defaultOutputTokens } = parts
  const inFlight = new Map<string, Promise<RuleScore>>()

  return (request) => {
    const key = keyOf(parts.name, request)
    const cached = cache.get(key)
    if (cached !== undefined) {
      parts.onRemembered?.(request)
      return Promise.resolve(cached)
    }
    const shared = inFlight.get(key)
    if (shared !== undefined) return shared
    const started = judge(request).then(({ result, score }) => {
      inFlight.delete(key)
      if (result === 'judged') cache.set(key, score)
      onResult(result, request, score)
      return score
    })
    inFlight.set(key, started)
    return started
  }

  async function judge(request: JudgeRequest): Promise<JudgeOutcome> {
    const texts = partsOf(request.text)
    if (texts.length > maxParts) return failure('text_too_long')
    const others = new AbortController()
    try {
      const scores = await Promise.all(texts.map((text) => scorePart({ ...request, text }, others.signal)))
      return { result: 'judged', score: { basisPoints: Math.round(Math.max(...scores) * 10_000) } }
    } catch (error) {
      others.abort(error) // the score of a part is useless if another part failed
      return failure(resultOf(error))
    }
  }

  async function scorePart(request: JudgeRequest, signal: AbortSignal): Promise<number> {
    const { rule, text, direction, onModelCall } = request
    const mark = Buffer.from(random.bytes(16)).toString('hex')
    const answer = await callModel(
      {
        ...parts.promptOf({ rule, text, direction, mark }),
        maxOutputTokens,
        timeoutMs,
        ...(temperature !== undefined && { temperature }),
        ...(parts.onSpent && { onSpent: (usd, answered) => parts.onSpent?.(request, usd, answered) }),
        onCalled: onModelCall && ((call) => onModelCall(call, direction)),
      },
      signal,
    )
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

const keyOf = (name: string, { versionId, direction, text }: JudgeRequest): string =>
  `${name} ${versionId} ${direction} ${hash('sha256', text, 'base64url')}`

/** Overlapping parts, so that nothing is lost at a cut. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = []
  for (let start = 0; ; start += partCharacters - overlapCharacters) {
    parts.push(text.slice(start, start + partCharacters).toWellFormed())
    if (start + partCharacters >= text.length) return parts
  }
}
