import { calibrationStore } from '../../adapters/stores/sql/judges/calibrations.ts'
import { judgeStore } from '../../adapters/stores/sql/judges/judges.ts'
import { backtestStore } from '../../adapters/stores/sql/policies/backtests.ts'
import { caseStore } from '../../adapters/stores/sql/policies/cases.ts'
import { decisionHours, rolloutArms } from '../../adapters/stores/sql/policies/decision-counts.ts'
import { gateStore } from '../../adapters/stores/sql/policies/gate.ts'
import { policyStore } from '../../adapters/stores/sql/policies/policies.ts'
import { createRunCases } from '../../domain/cases/run.ts'
import { createBacktestAdministration } from '../../domain/evaluation/backtest/create.ts'
import { createGatedPublications } from '../../domain/gate/publication.ts'
import { createGateRuns } from '../../domain/gate/runs.ts'
import { judgeFactsStore } from '../../domain/judges/gate-facts.ts'
import { judgeVersionOf } from '../../domain/policy/judge-prompt.ts'
import { createRunDraftCases } from '../../http/admin/policies/draft-cases.ts'
import { gateRoutes, gateSettingsRoutes } from '../../http/admin/policies/gate-routes.ts'
import { publicationRoutes } from '../../http/admin/policies/publication-routes.ts'
import { publishRoute } from '../../http/admin/policies/publish-route.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { EvaluationParts, Feature, FeatureParts } from './feature.ts'
import { createPolicyRules } from './policies.ts'

/** Publication of policies, and the gate in front of it. */
export function createPublication(
  parts: FeatureParts,
  { simulate, decodeBody }: Pick<EvaluationParts, 'simulate' | 'decodeBody'>,
): Feature {
  const { clock, config, ids, stores } = parts
  const fileSubject = config.policies.judge && judgeVersionOf(config.policies.judge.model)
  const own = stores.of((tx) => ({
    policies: policyStore(tx),
    cases: caseStore(tx, stores.encryptions.caseTexts),
    backtests: backtestStore(tx),
    gate: gateStore(tx),
    decisions: { ...decisionHours(tx, clock), ...rolloutArms(tx) },
    judges: judgeFactsStore({ judges: judgeStore(tx), calibrations: calibrationStore(tx) }, fileSubject),
  }))
  const policies = createPolicyRules(parts)
  const backtests = createBacktestAdministration({ ids, clock, checkRule: policies.checkRule })
  const runs = createGateRuns({ ids, clock, backtests })
  const runDraftCases = createRunDraftCases(createRunCases({ simulate, clock }), decodeBody)
  const gated = createGatedPublications({ policies, runs })
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      return [
        publishRoute(routes, { gated, runDraftCases }),
        ...publicationRoutes(routes, { policies, clock }),
        ...gateRoutes(routes, { runs, runDraftCases }),
        ...gateSettingsRoutes(routes, clock),
      ]
    },
  }
}
