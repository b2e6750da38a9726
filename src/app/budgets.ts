import { budgetStore, readActiveBudgets } from '../adapters/stores/sql/budgets/budgets.ts'
import { thresholdStore } from '../adapters/stores/sql/budgets/thresholds.ts'
import type { Database } from '../adapters/stores/sql/database.ts'
import { costStore } from '../adapters/stores/sql/rollup/costs.ts'
import { createActiveBudgets } from '../domain/budgets/active-budgets.ts'
import { createReadCounterSpend } from '../domain/budgets/counter-spend.ts'
import { createSpentReads, type SpentReads } from '../domain/budgets/spent.ts'
import { createReportThresholds } from '../domain/budgets/thresholds.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { Stores } from './stores.ts'

/** Reports the thresholds of budgets until the app is closed. Returns what requests are checked against. */
export function openBudgets(infrastructure: Infrastructure, stores: Stores) {
  const { built, database, jobs, clock, changes } = infrastructure
  const { mutate } = stores.of((tx) => ({ thresholds: thresholdStore(tx) }))
  const report = createReportThresholds({
    listActive: () => readActiveBudgets((sql, params) => database.read(sql, params)),
    reported: thresholdStore(stores.reading),
    readSpent: openSpentReads(infrastructure).ofPeriod,
    mutate,
    clock,
  })
  built.use(jobs.start('report-budget-thresholds', report))
  return {
    activeBudgetsOf: createActiveBudgets({ changes, budgets: budgetStore(stores.reading) }),
    readSpend: openReadSpend(infrastructure),
  }
}

/** Reads what was spent from the sums of costs. */
export function openSpentReads({
  config,
  database,
  clock,
}: Pick<Infrastructure, 'config' | 'database' | 'clock'>): SpentReads {
  const { retention_days: userDays } = config.audit
  const costs = costStore((sql, params) => database.report(sql, params), { clock, userDays })
  return createSpentReads({ costs, creditUsd: config.credits.credit_usd })
}

/**
 * For the counters of requests. On SQLite it reads beside the storage thread, because a sum over many end users would delay every
 * request. On PostgreSQL it does not read with the reports: a replica may miss the last charges.
 */
function openReadSpend({ database, clock, config }: Pick<Infrastructure, 'database' | 'clock' | 'config'>) {
  const { retention_days: userDays } = config.audit
  const query: Database['read'] = (sql, params) =>
    database.engine === 'sqlite' ? database.report(sql, params) : database.read(sql, params)
  return createReadCounterSpend(costStore(query, { clock, userDays }), clock)
}
