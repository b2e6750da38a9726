import type { Simulation } from '../../../domain/evaluation/simulate.ts'
import { outcomesOf } from '../../../domain/evaluation/verdict/outcomes.ts'
import type { SimulateAnswer } from './schema.ts'
import type { Static } from 'typebox'
import { presentOutcome } from '../../resources/outcome.ts'

export function presentSimulation(simulation: Simulation): Omit<Static<typeof SimulateAnswer>, 'warnings'> {
  const { verdict, findings, plan } = simulation
  const { decision, effectiveDecision, deciding, decisions } = verdict
  const { config } = plan.gateway
  // Without a deciding check, the configuration's reason code for `allow` is reported.
  const { reasonCode } = deciding ?? decisions.find(({ check }) => check === 'gateway') ?? {}
  return {
    decision,
    reason_code: reasonCode ?? decision.toUpperCase(),
    triggered_categories: [...new Set(decisions.flatMap(({ triggeredCategories }) => triggeredCategories))],
    rollout_mode: deciding?.check === 'policy' ? deciding.rolloutMode : plan.rollout.mode,
    policy_id: deciding?.policyId ?? config.policy_id,
    effective_decision: effectiveDecision,
    enforced: deciding?.isEnforced ?? plan.rollout.isEnforced,
    allowlist_hits: [...findings.allowlistHits],
    denylist_hits: [...findings.denylistHits],
    redactions: config.rules.redact ? { ...findings.personalData } : {},
    scores: { ...findings.scores },
    results: outcomesOf(simulation).map(presentOutcome),
  }
}
