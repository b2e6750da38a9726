import { createCelChecker } from '../../adapters/cel/cel.ts'
import { caseStore } from '../../adapters/stores/sql/policies/cases.ts'
import { backtestStore } from '../../adapters/stores/sql/policies/backtests.ts'
import { decisionHours } from '../../adapters/stores/sql/policies/decision-counts.ts'
import { policyStore } from '../../adapters/stores/sql/policies/policies.ts'
import { createCases } from '../../domain/cases/cases.ts'
import { createRunCases } from '../../domain/cases/run.ts'
import { createBacktestAdministration } from '../../domain/evaluation/backtest/create.ts'
import { createPolicyAdministration, type PolicyAdministration } from '../../domain/policy/mutations.ts'
import { backtestRoutes } from '../../http/admin/policies/backtest-routes.ts'
import { caseRoutes } from '../../http/admin/policies/case-routes.ts'
import { caseRunRoute } from '../../http/admin/policies/case-run-route.ts'
import { ruleCheckRoute } from '../../http/admin/policies/check-route.ts'
import { decisionRoutes } from '../../http/admin/policies/decision-routes.ts'
import { policyPreviewRoute } from '../../http/admin/policies/preview-route.ts'
import { versionRoutes } from '../../http/admin/policies/publication-routes.ts'
import { policyRoutes } from '../../http/admin/policies/routes.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { EvaluationParts, Feature, FeatureParts } from './feature.ts'

/** Policies with their versions, cases, decisions and backtests. */
export function createPolicies(
  parts: FeatureParts,
  { inspectRule, simulate, decodeBody }: Omit<EvaluationParts, 'findEvidence'>,
): Feature {
  const { clock, ids, stores } = parts
  const own = stores.of((tx) => ({
    policies: policyStore(tx),
    backtests: backtestStore(tx),
    cases: caseStore(tx, stores.encryptions.caseTexts),
    decisions: decisionHours(tx, clock),
  }))
  const policies = createPolicyRules(parts)
  const backtests = createBacktestAdministration({ ids, clock, checkRule: policies.checkRule })
  const cases = createCases({ ids, clock })
  const runCases = createRunCases({ simulate, clock })
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      return [
        ...policyRoutes(routes, policies, clock),
        ruleCheckRoute(routes, inspectRule),
        policyPreviewRoute(routes, policies),
        ...versionRoutes(routes),
        ...backtestRoutes(routes, backtests),
        ...caseRoutes(routes, { cases, decodeBody }),
        caseRunRoute(routes, { runCases, decodeBody }),
        ...decisionRoutes(routes, clock),
      ]
    },
  }
}

/** The rules for changing policies. An evaluation checks rules that are not saved with them. */
export const createPolicyRules = ({ clock, ids }: Pick<FeatureParts, 'clock' | 'ids'>): PolicyAdministration =>
  createPolicyAdministration({
    ids,
    clock,
    checkExpression: createCelChecker(),
  })
