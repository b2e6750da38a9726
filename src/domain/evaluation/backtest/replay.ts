import { hash } from 'node:crypto'
import type { ContentTexts } from '../../audit/event/content.ts'
import type { LoggedEvent } from '../../audit/log.ts'
import { rowOf } from '../../audit/chain/chained-event.ts'
import { decisions, isDenial } from '../../audit/event/verdict.ts'
import type { TextDirection } from '../../moderation/classifier.ts'
import type { CompileRule } from '../../policy/compiled-rule.ts'
import type { Evaluate } from '../findings/evaluate.ts'
import type { CheckOutcome } from '../verdict/outcome.ts'
import { planFor, type Plan } from '../rules/plan.ts'
import { emptyRulebook, type ActivePolicy, type Rulebook } from '../rules/rulebook.ts'
import type { Backtest } from './backtest.ts'
import type { ReplayResult } from './replay-result.ts'
import type { ReplayedEvent } from './counts.ts'

export type ReplayParts = { readonly examine: Evaluate; readonly compileRule: CompileRule }

/** Asks the draft of a backtest about events, one by one: by the judgement that requests are held to. */
export type Replay = (backtest: Backtest) => (event: LoggedEvent) => Promise<Omit<ReplayedEvent, 'threshold'>>

export function createReplay({ examine, compileRule }: ReplayParts): Replay {
  return (backtest) => {
    const rulebook = rulebookOf(backtest, compileRule)
    return async (event) => {
      const about = { eventId: event.id, projectId: rowOf(event.document, '').projectId }
      if (placeOf(event.id) >= backtest.order.samplePercent) return { ...about, replayed: 'not_sampled' }
      const texts = textsOf(event)
      if (!texts) return { ...about, replayed: 'no_text' }
      const outcomes = await outcomesOf(planOf(rulebook, backtest, event), texts)
      return {
        ...about,
        replayed: { ...judgementOf(outcomes), isRedacted: texts.isRedacted, ...pastOf(event, backtest) },
      }
    }
  }

  async function outcomesOf(plan: Plan, { prompt, response }: ContentTexts): Promise<readonly CheckOutcome[]> {
    const outcomes: CheckOutcome[] = []
    for (const [direction, text] of [
      ['request', prompt],
      ['response', response],
    ] as const) {
      if (text) outcomes.push(...(await outcomesFor(plan, direction, text)))
    }
    return outcomes
  }

  async function outcomesFor(plan: Plan, direction: TextDirection, text: string): Promise<readonly CheckOutcome[]> {
    if (plan.policies[direction].length === 0) return []
    const { verdict } = await examine(plan, { texts: [text], direction })
    return verdict.outcomes.filter(({ check }) => check === 'policy')
  }
}

/** Nothing but the draft, enforced. */
function rulebookOf({ policyId, organizationId, order: { draft } }: Backtest, compileRule: CompileRule): Rulebook {
  const { rule, ...content } = draft
  // Named by its text: what is remembered of it holds for this rule alone.
  const versionId = `draft:${hash('sha256', rule, 'base64url')}`
  const compiled = compileRule({ rule, versionId, organizationId })
  const policy: ActivePolicy = { ...content, mode: 'enforcing', id: policyId, versionId, version: 0, rule: compiled }
  return { ...emptyRulebook, policies: [policy] }
}

/** A draft that is attached to nothing is tried on everything. */
function planOf(rulebook: Rulebook, { policyId, order }: Backtest, { document }: LoggedEvent): Plan {
  const { projectId, userId } = rowOf(document, '')
  return planFor(rulebook, {
    model: document.ai_model?.name ?? '',
    project: projectId ?? '',
    user: userId ?? undefined,
    credentialId: '',
    metadata: {}, // never recorded
    target: undefined,
    policyIds: order.draft.scope === 'unattached' ? [policyId] : [],
    flaggedCategories: [],
  })
}

const judgementOf = (outcomes: readonly CheckOutcome[]): Pick<ReplayResult, 'score' | 'isUnjudged'> => ({
  score: Math.max(0, ...outcomes.map(({ scoreBasisPoints }) => scoreBasisPoints ?? 0)),
  isUnjudged: outcomes.some(({ decision }) => decision === 'not_evaluated'),
})

function textsOf({ content }: LoggedEvent): (ContentTexts & { readonly isRedacted: boolean }) | undefined {
  const texts = content?.full ?? content?.redacted
  if (!texts?.prompt && !texts?.response) return undefined
  return { ...texts, isRedacted: content?.full === undefined }
}

function pastOf({ document }: LoggedEvent, { policyId }: Backtest): Pick<ReplayResult, 'wasBlocked' | 'wasByThis'> {
  const row = rowOf(document, '')
  const decision = decisions.find((each) => each === row.decision)
  const isEnforced = document.unmapped.gatehouse['is_enforced'] !== false
  const wasBlocked = decision !== undefined && isDenial(decision) && isEnforced
  return { wasBlocked, wasByThis: wasBlocked && row.policyId === policyId }
}

/** From 0 up to 100, by the event alone: the same sample every time. */
const placeOf = (eventId: string): number =>
  (Number.parseInt(hash('sha256', eventId, 'hex').slice(0, 8), 16) / 0x1_0000_0000) * 100
