import { re2Patterns } from '../../adapters/patterns/re2.ts'
import { eventLog } from '../../adapters/stores/sql/audit/log.ts'
import { gatewayBacktestStore } from '../../adapters/stores/sql/policies/backtests.ts'
import { gatewayCaseStore } from '../../adapters/stores/sql/policies/cases.ts'
import { gateStore } from '../../adapters/stores/sql/policies/gate.ts'
import { gatewayStore } from '../../adapters/stores/sql/policies/gateway-configurations.ts'
import { policyStore } from '../../adapters/stores/sql/policies/policies.ts'
import {
  createConfigurationAdministration,
  type ConfigurationAdministration,
} from '../../domain/gateway-config/mutations.ts'
import { createGatewayCases } from '../../domain/cases/cases.ts'
import { createRunGatewayCases } from '../../domain/cases/run.ts'
import { createConfigurationGate } from '../../domain/gate/configuration-gate.ts'
import { createGatewayBacktestAdministration } from '../../domain/evaluation/backtest/gateway-create.ts'
import { gatewayBacktestRoutes } from '../../http/policy-gateway/config/backtest-routes.ts'
import { gatewayCaseRoutes, gatewayCaseRunRoute } from '../../http/policy-gateway/config/case-routes.ts'
import { createRunCandidateCases, gatewayGateRoutes } from '../../http/policy-gateway/config/gate-routes.ts'
import { configRoutes } from '../../http/policy-gateway/config/routes.ts'
import { historyRoutes } from '../../http/policy-gateway/history/routes.ts'
import { simulateRoute } from '../../http/policy-gateway/simulate/route.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { EvaluationParts, Feature, FeatureParts } from './feature.ts'

/** The gateway configuration with its backtests and cases, and its simulation. */
export function createGatewayConfiguration(
  parts: FeatureParts,
  { simulate, decodeBody }: Pick<EvaluationParts, 'simulate' | 'decodeBody'>,
): Feature {
  const { stores, clock, ids } = parts
  const own = stores.of((tx) => ({
    gateway: gatewayStore(tx),
    eventLog: eventLog(tx, stores.audit.events),
    backtests: gatewayBacktestStore(tx),
    gatewayCases: gatewayCaseStore(tx, stores.encryptions.caseTexts),
    gate: gateStore(tx),
  }))
  const cases = createGatewayCases({ ids, clock })
  const runCases = createRunGatewayCases({ simulate, clock })
  const backtests = createGatewayBacktestAdministration({ ids, clock })
  const policies = policyStore(stores.reading)
  const configurations = createConfigurationRules(parts)
  const runCandidateCases = createRunCandidateCases(runCases, decodeBody)
  const gated = {
    configurations,
    gate: createConfigurationGate({ ids, clock, configurations, backtests }),
    runCandidateCases,
  }
  return {
    policyGateway(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      return [
        ...configRoutes(routes, gated),
        ...gatewayGateRoutes(routes, gated),
        ...gatewayBacktestRoutes(routes, { backtests, configurations }),
        ...gatewayCaseRoutes(routes, { cases, decodeBody }),
        gatewayCaseRunRoute(routes, { runCases, configurations, decodeBody }),
        simulateRoute(routes, { ...surface, ...gated, simulate, decodeBody, policies, reads: own.reads }),
      ]
    },
  }
}

/** What the gateway decided, from the audit log. */
export function createDecisionHistory({ stores }: FeatureParts): Feature {
  const { mutate, reads } = stores.of(() => ({}))
  return {
    policyGateway: (surface) =>
      historyRoutes(createResourceRoutes({ ...surface, mutate, reads: { ...reads, events: stores.reportedEvents } })),
  }
}

/** The rules for changing the configuration. An evaluation checks configurations that are not saved with them. */
export const createConfigurationRules = ({
  config,
  clock,
  ids,
}: Pick<FeatureParts, 'config' | 'clock' | 'ids'>): ConfigurationAdministration =>
  createConfigurationAdministration({
    ids,
    clock,
    patterns: re2Patterns,
    hasJudge: config.policies.judge !== undefined,
  })
