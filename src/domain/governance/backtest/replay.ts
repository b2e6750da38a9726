import { hash } from 'node:crypto'
import type { ContentTexts } from '../../audit/content.ts'
import type { LoggedEvent } from '../../audit/log.ts'
import { rowOf } from '../../audit/sealed.ts'
import { decisions, isDenial } from '../../audit/verdict.ts'
import type { Direction } from '../../moderation/classifier.ts'
import type { Screen } from '../../moderation/screen.ts'
import type { CompiledRule, CompileRule, RuleScore } from '../../policy/compiled-rule.ts'
import { findingsOf } from '../findings.ts'
import type { Backtest } from './backtest.ts'
import type { Replayed } from './replayed.ts'
import type { Look } from './tally.ts'

export type ReplayParts = { readonly screen: Screen; readonly compileRule: CompileRule }

/** Asks the draft of a backtest about events, one by one. */
export type Replay = (backtest: Backtest) => (event: LoggedEvent) => Promise<Omit<Look, 'threshold'>>

const noLists = { allowlist: [], denylist: [] }

export function createReplay({ screen, compileRule }: ReplayParts): Replay {
  return (backtest) => {
    const { draft, samplePercent } = backtest.order
    // Named by its text: what is remembered of it holds for this rule alone.
    const rule = compileRule(draft.rule, `draft:${hash('sha256', draft.rule, 'base64url')}`)
    return async (event) => {
      const { projectId } = rowOf(event.document, '')
      const about = { eventId: event.id, projectId }
      if (placeOf(event.id) >= samplePercent) return { ...about, replayed: 'not_sampled' }
      const texts = textsOf(event)
      if (!texts) return { ...about, replayed: 'no_text' }
      const applies = draft.scope !== 'projects' || (projectId !== null && draft.projectIds.includes(projectId))
      const scores = applies ? await scoresOf(rule, event, partsFor(draft.direction, texts)) : []
      const { isRedacted } = texts
      return { ...about, replayed: { ...judgementOf(scores), isRedacted, ...pastOf(event, backtest) } }
    }
  }

  async function scoresOf(rule: CompiledRule, event: LoggedEvent, parts: readonly Said[]): Promise<RuleScore[]> {
    const scores: RuleScore[] = []
    for (const { text, direction } of parts) {
      const { scores: categories, personalData: pii } = findingsOf(await screen({ text, direction }), noLists)
      scores.push(await rule.score({ ...factsOf(event), text, direction, categories, pii }))
    }
    return scores
  }
}

type Said = { readonly text: string; readonly direction: Direction }

function partsFor(direction: Direction | 'both', { prompt, response }: ContentTexts): readonly Said[] {
  const said = [
    { text: prompt ?? '', direction: 'request' },
    { text: response ?? '', direction: 'response' },
  ] as const
  return said.filter((each) => each.text !== '' && (direction === 'both' || direction === each.direction))
}

const judgementOf = (scores: readonly RuleScore[]): Pick<Replayed, 'score' | 'isUnjudged'> => ({
  score: Math.max(0, ...scores.map((score) => ('basisPoints' in score ? score.basisPoints : 0))),
  isUnjudged: scores.some((score) => 'notEvaluated' in score),
})

function textsOf({ content }: LoggedEvent): (ContentTexts & { readonly isRedacted: boolean }) | undefined {
  const texts = content?.full ?? content?.redacted
  if (!texts?.prompt && !texts?.response) return undefined
  return { ...texts, isRedacted: content?.full === undefined }
}

function pastOf({ document }: LoggedEvent, { policyId }: Backtest): Pick<Replayed, 'wasBlocked' | 'wasByThis'> {
  const row = rowOf(document, '')
  const decision = decisions.find((each) => each === row.decision)
  const isEnforced = document.unmapped.gatehouse['is_enforced'] !== false
  const wasBlocked = decision !== undefined && isDenial(decision) && isEnforced
  return { wasBlocked, wasByThis: wasBlocked && row.policyId === policyId }
}

function factsOf({ document }: LoggedEvent) {
  const { projectId, userId } = rowOf(document, '')
  const metadata = {} // never recorded
  return { model: document.ai_model?.name ?? '', project: projectId ?? '', user: userId ?? '', metadata }
}

/** From 0 up to 100, by the event alone: the same sample every time. */
const placeOf = (eventId: string): number =>
  (Number.parseInt(hash('sha256', eventId, 'hex').slice(0, 8), 16) / 0x1_0000_0000) * 100
