import { andThen, type MaybePromise } from '../base/maybe-promise.ts'
import { re2Patterns } from '../adapters/patterns/re2.ts'
import { exceptionStore } from '../adapters/stores/sql/policies/exceptions.ts'
import { gatewayStore } from '../adapters/stores/sql/policies/gateway-configurations.ts'
import { policyStore } from '../adapters/stores/sql/policies/policies.ts'
import { quotaStore } from '../adapters/stores/sql/policies/quotas.ts'
import { createEvaluate } from '../domain/evaluation/evaluate.ts'
import { createRulebooks } from '../domain/evaluation/rulebooks.ts'
import { createQuotaReservations } from '../domain/gateway-config/quotas.ts'
import { createScanText } from '../domain/scan/scan.ts'
import { createEnforce, type EnforceParts } from '../pipeline/enforcement/enforce.ts'
import { createCheckBeforeCounting } from '../pipeline/enforcement/check-before-counting.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { RequestMetrics } from './request-metrics.ts'
import { createSimulation } from './simulation.ts'
import { openBacktests, openExpiredExceptions, openSpikeMonitor } from './features/policy-jobs.ts'
import type { Rules } from './rules.ts'
import type { Stores } from './stores.ts'

/** Text blocks whose verdicts are cached: enough for a few hundred long chats. */
const cachedBlocks = 20_000

/** `holdMs`: how long the quota reservation of a request is kept at most. */
type EvaluationParts = Rules &
  Pick<RequestMetrics, 'countDecisions'> &
  Pick<EnforceParts, 'addressesOf'> & { readonly holdMs: number }

/** Content checks: the rules of each organization, their evaluation, and what enforces them on a request. */
export function openEvaluation(
  infrastructure: Infrastructure,
  stores: Stores,
  { classifier, compileRule, judges, rephrase, failsOpen, holdMs, countDecisions, addressesOf }: EvaluationParts,
) {
  const { config, clock, ids, changes, database, warn } = infrastructure
  const policies = policyStore(stores.reading)
  const rulebookOf = createRulebooks({
    gateway: gatewayStore(stores.reading),
    policies,
    exceptions: exceptionStore(stores.reading),
    clock,
    changes,
    compileRule,
    judgeOf: judges.judgeOf,
    patterns: re2Patterns,
  })
  const canRephrase = rephrase !== undefined
  const simulation = createSimulation({ classifier, rulebookOf, compileRule, clock, canRephrase, failsOpen })
  const {
    simulate,
    injectionDetector,
    findEvidence,
    explain,
    evaluateAll,
    evaluateUncached,
    prefilterOf,
    holdBackPolicyOf,
    pause,
  } = simulation
  const scanText = createScanText({ classifier, injectionDetector, pause, cacheEntries: cachedBlocks })
  const shared = { pause, prefilterOf, canRephrase, failsOpen }
  const evaluate = createEvaluate({ ...shared, scanText, cacheEntries: cachedBlocks })
  const spikeMonitor = openSpikeMonitor(infrastructure, stores)
  openExpiredExceptions(infrastructure, stores)
  // With the decisions that allow a text: their scores count for other thresholds.
  openBacktests(infrastructure, stores, { evaluate: evaluateAll, compileRule, rulebookOf, patterns: re2Patterns })
  const enforce = createEnforce({
    rulebookOf,
    hasPolicy: async (organizationId, id) => (await policies.find(organizationId, id)) !== undefined,
    evaluate,
    evaluateUncached,
    holdBackPolicyOf,
    rephrase,
    quotas: createQuotaReservations({
      store: quotaStore(database),
      clock,
      ids,
      holdMs,
      onSettleFailed: warn('a quota could not be settled'),
    }),
    clock,
    ids,
    classifier,
    crisisMessage: config.moderation.crisis_message,
    restoresPersonalData: config.moderation.restore_redacted,
    pause,
    addressesOf,
    countDecisions(request) {
      countDecisions(request.decisions)
      spikeMonitor.count(request)
    },
  })
  return {
    enforce,
    checkBeforeCounting: createCheckBeforeCounting({ evaluate, rulebookOf, clock }),
    scanText,
    simulate,
    findEvidence,
    explain,
    isAuditRequired: (organizationId: string): MaybePromise<boolean> =>
      andThen(rulebookOf(organizationId), ({ gateway }) => gateway.config.org_controls.audit_logs),
  }
}
