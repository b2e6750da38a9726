import { alertFigures } from '../../adapters/stores/sql/alerts/figures.ts'
import { alertStore } from '../../adapters/stores/sql/alerts/alerts.ts'
import { episodeStore, episodeTransitions, takeEvaluationLease } from '../../adapters/stores/sql/alerts/episodes.ts'
import { failingUpstreams } from '../../adapters/stores/sql/alerts/failing-upstreams.ts'
import { readActiveRules } from '../../adapters/stores/sql/alerts/rules.ts'
import { overrideStore } from '../../adapters/stores/sql/credits/limit-overrides.ts'
import { budgetStore } from '../../adapters/stores/sql/budgets/budgets.ts'
import { directoryStore } from '../../adapters/stores/sql/identity/directory.ts'
import { policyStore } from '../../adapters/stores/sql/policies/policies.ts'
import { minuteMs } from '../../base/clock.ts'
import { readBudgetStatus, type BudgetStatus } from '../../domain/budgets/status.ts'
import { openBreachFinder } from '../../domain/alerts/find-breaches.ts'
import { createSendAlert } from '../../domain/alerts/send-alert.ts'
import { tierTable, withOverrides } from '../../domain/limits/tiers.ts'
import type { UpstreamStatus } from '../../domain/inference/upstream-status.ts'
import { openSpentReads } from '../budgets.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { Stores } from '../stores.ts'
import { attentionReader } from './attention.ts'

/** Longer than the interval of the job, so that the same node evaluates while it lives. */
const evaluationLeaseMs = 2 * minuteMs

/** What the evaluation of alert rules reads and writes. */
export function evaluationParts(infrastructure: Infrastructure, stores: Stores) {
  const { config, database, clock, ids } = infrastructure
  const node = ids('node')
  const upstreams = failingUpstreams(database, node)
  const own = stores.of((tx) => ({ alerts: alertStore(tx, { ids, clock }), episodes: episodeTransitions(tx) }))
  const finder = {
    figures: alertFigures(database, clock),
    creditUsd: config.credits.credit_usd,
    clock,
    directory: directoryStore(stores.reading),
    policies: policyStore(stores.reading),
    readBudgets: budgetReader(infrastructure, stores),
    overrides: overrideStore(stores.reading),
    tiers: withOverrides(tierTable, config.limits.tiers),
    readAttention: attentionReader(infrastructure, stores),
    readFailingUpstreams: upstreams.read,
  }
  return {
    evaluation: {
      takeLease: () => takeEvaluationLease(database, { owner: node, nowMs: clock.nowMs(), leaseMs: evaluationLeaseMs }),
      activeRules: () => readActiveRules(database),
      openOrganization: (organizationId: string) => openBreachFinder(finder, organizationId),
      states: episodeStore(database),
      mutate: own.mutate,
      sendAlert: createSendAlert({ ids, clock }),
      clock,
    },
    reportUpstreams: (list: readonly UpstreamStatus[]) => upstreams.write(list, clock.nowMs()),
  }
}

/** One after the other, because each is a sum over its requests. */
function budgetReader(infrastructure: Infrastructure, stores: Stores) {
  const budgets = budgetStore(stores.reading)
  const { ofPeriod } = openSpentReads(infrastructure)
  return async (organizationId: string): Promise<readonly BudgetStatus[]> => {
    const statuses: BudgetStatus[] = []
    for (const budget of await budgets.listActive(organizationId))
      statuses.push(await readBudgetStatus(budget, ofPeriod, infrastructure.clock.nowMs()))
    return statuses
  }
}
