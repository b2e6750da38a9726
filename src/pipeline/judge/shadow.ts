import { hash } from 'node:crypto'
import type { CountedPolicy } from '../../domain/judges/counts.ts'
import type { JudgeVersion } from '../../domain/judges/judge.ts'
import type { JudgeTally } from '../../domain/judges/tally.ts'
import type { RuleScore } from '../../domain/policy/rule-score.ts'
import type { Judge, JudgeRequest } from '../../domain/policy/judge.ts'

/** A judge that is asked beside the active one. Nothing waits for it, and it decides about nothing. */
export type ShadowJudge = {
  /** Asks about a share of the questions that the active judge has answered about requests. */
  compare(request: JudgeRequest, active: RuleScore): void
}

type ShadowParts = {
  readonly version: JudgeVersion
  readonly ask: Judge
  readonly tally: Pick<JudgeTally, 'count' | 'differ'>
}

/** Questions at once. Others are left out, because a slow shadow must not fill the memory. */
const maxRunning = 4

export function createShadow({ version, ask, tally }: ShadowParts): ShadowJudge {
  const { organizationId, judgeId, version: number, shareBasisPoints } = version
  let running = 0
  return {
    compare(request, active) {
      const { requestId, policyId } = request
      const direction = request.direction === 'response' ? 'response' : 'request'
      if (requestId === undefined || !('basisPoints' in active)) return
      if (running >= maxRunning || positionOf(request.text) >= shareBasisPoints) return
      const of: CountedPolicy = { organizationId, judgeId, version: number, policyId }
      const { onModelCall: _, requestId: __, ...question } = request
      running += 1
      void compareOne()

      async function compareOne(): Promise<void> {
        const score = await ask(question)
        running -= 1
        if (!('basisPoints' in score) || !('basisPoints' in active) || requestId === undefined) return
        const [ofActive, ofShadow] = [active.basisPoints, score.basisPoints]
        const differs = ofActive >= request.threshold !== ofShadow >= request.threshold
        tally.count(of, { compared: 1, ...(differs && { differed: 1 }) })
        if (differs) tally.differ({ ...of, requestId, direction, activeScore: ofActive, shadowScore: ofShadow })
      }
    },
  }
}

/** From 0 to 9,999, by the text alone: the same text is always part of a share, or never. */
const positionOf = (text: string): number => Number.parseInt(hash('sha256', text, 'hex').slice(0, 8), 16) % 10_000
