import type { Static } from 'typebox'
import type { Simulation } from '../../../domain/evaluation/simulate.ts'
import type { SimulateAnswer } from './schema.ts'

export function presentSimulation({ verdict, findings, plan }: Simulation): Static<typeof SimulateAnswer> {
  const { decision, effectiveDecision, deciding, decisions } = verdict
  const { config } = plan.gateway
  // Without a deciding check, the configuration's reason code for `allow` is reported.
  const { reasonCode } = deciding ?? decisions.find(({ check }) => check === 'gateway') ?? {}
  return {
    decision,
    reason_code: reasonCode ?? decision.toUpperCase(),
    triggered_categories: [...new Set(decisions.flatMap(({ triggeredCategories }) => triggeredCategories))],
    rollout_mode: plan.rollout.mode,
    policy_id: config.policy_id,
    effective_decision: effectiveDecision,
    enforced: deciding?.isEnforced ?? plan.rollout.isEnforced,
    allowlist_hits: [...findings.allowlistHits],
    denylist_hits: [...findings.denylistHits],
    redactions: config.rules.redact ? { ...findings.personalData } : {},
    scores: { ...findings.scores },
  }
}
