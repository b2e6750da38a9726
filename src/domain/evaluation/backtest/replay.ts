import { hash } from 'node:crypto'
import type { ContentTexts } from '../../audit/event/content.ts'
import type { LoggedEvent } from '../../audit/log.ts'
import { rowOf } from '../../audit/chain/chained-event.ts'
import { decisions as auditDecisions, isDenial } from '../../audit/event/verdict.ts'
import type { CompileRule } from '../../policy/compiled-rule.ts'
import type { RuleJudge } from '../../policy/judge.ts'
import type { Evaluate } from '../evaluate.ts'
import type { Decision } from '../verdict/combine.ts'
import { planFor, type Plan } from '../plan.ts'
import { emptyRulebook, type ActivePolicy, type Rulebook, type RulebookOf } from '../rulebook.ts'
import { judgedSource } from '../rulebooks.ts'
import type { Backtest } from './backtest.ts'
import type { ReplayedEvent, ReplayResult } from './counts.ts'
import {
  originOf,
  replayedTexts,
  replayTextsOf,
  samplePositionOf,
  scannedReplayTexts,
  type StoredRequest,
} from './replay-texts.ts'

export type ReplayParts = {
  readonly evaluate: Evaluate
  readonly compileRule: CompileRule
  readonly rulebookOf: RulebookOf
}

/** Evaluates the draft of a backtest on one event at a time, with the `Evaluate` function that requests use. */
export type Replay = (
  backtest: Backtest,
) => Promise<(event: StoredRequest) => Promise<Omit<ReplayedEvent, 'threshold'>>>

export function createReplay({ evaluate, compileRule, rulebookOf }: ReplayParts): Replay {
  return async (backtest) => {
    const { judge } = await rulebookOf(backtest.organizationId)
    const rulebook = draftRulebook(backtest, compileRule, judge)
    return async (event) => {
      const { projectId, requestId } = rowOf(event.document, '')
      const identity = { eventId: event.id, projectId, requestId }
      if (samplePositionOf(event.id) >= backtest.parameters.samplePercent)
        return { ...identity, replayed: 'not_sampled' }
      const texts = replayTextsOf(event)
      if (!texts) return { ...identity, replayed: 'no_text' }
      const decisions = await decisionsOf(planOf(rulebook, backtest, event), texts, event)
      return {
        ...identity,
        replayed: { ...scoreOf(decisions), ...originOf(texts), ...pastDecisionOf(event, backtest) },
      }
    }
  }

  async function decisionsOf(plan: Plan, texts: ContentTexts, event: StoredRequest): Promise<readonly Decision[]> {
    const decisions: Decision[] = []
    for (const one of replayedTexts(texts)) {
      if (plan.policies[one.direction].length === 0) continue
      const { verdict } = await evaluate(plan, scannedReplayTexts(plan, one, event))
      decisions.push(...verdict.decisions.filter(({ check }) => check === 'policy'))
    }
    return decisions
  }
}

/** A rulebook with only the draft, enforced. */
function draftRulebook(
  { policyId, organizationId, parameters: { draft } }: Backtest,
  compileRule: CompileRule,
  judge: RuleJudge | undefined,
): Rulebook {
  const { rule, ...content } = draft
  // Derived from the rule's text, because cached scores are valid for this rule only.
  const versionId = `draft:${hash('sha256', rule, 'base64url')}`
  const compiled = compileRule({ ...judgedSource(policyId, content), rule, versionId, organizationId, judge })
  const policy: ActivePolicy = { ...content, mode: 'enforcing', id: policyId, versionId, version: 0, rule: compiled }
  return { ...emptyRulebook, organizationId, policies: [policy] }
}

/** An unattached draft is replayed on every event. */
function planOf(rulebook: Rulebook, { policyId, parameters }: Backtest, { document }: LoggedEvent): Plan {
  const { projectId, userId, timeMs } = rowOf(document, '')
  return planFor(rulebook, {
    model: document.ai_model?.name ?? '',
    project: projectId ?? '',
    user: userId ?? undefined,
    credentialId: '',
    metadata: {}, // not in the audit log
    target: undefined,
    policyIds: parameters.draft.scope === 'unattached' ? [policyId] : [],
    flaggedCategories: [],
    atMs: timeMs,
  })
}

const scoreOf = (decisions: readonly Decision[]): Pick<ReplayResult, 'score' | 'isNotEvaluated'> => ({
  score: Math.max(0, ...decisions.map(({ scoreBasisPoints }) => scoreBasisPoints ?? 0)),
  isNotEvaluated: decisions.some(({ decision }) => decision === 'not_evaluated'),
})

function pastDecisionOf(
  { document }: LoggedEvent,
  { policyId }: Backtest,
): Pick<ReplayResult, 'wasBlocked' | 'wasBlockedByPolicy'> {
  const row = rowOf(document, '')
  const decision = auditDecisions.find((each) => each === row.decision)
  const isEnforced = document.unmapped.gatehouse['is_enforced'] !== false
  const wasBlocked = decision !== undefined && isDenial(decision) && isEnforced
  return { wasBlocked, wasBlockedByPolicy: wasBlocked && row.policyId === policyId }
}
