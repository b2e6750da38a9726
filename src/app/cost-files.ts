import type { Log } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import { costFileStore } from '../adapters/stores/sql/exports/cost-files.ts'
import { dayTotals } from '../adapters/stores/sql/rollup/cost-days.ts'
import type { DeliveryStore } from '../domain/audit/export/delivery-store.ts'
import { deliveryOutcomes } from '../domain/audit/export/sink.ts'
import { createCostFileWriter, type CostFileParts } from '../pipeline/export/cost-files.ts'
import type { Infrastructure } from './infrastructure.ts'

type Exports = Pick<CostFileParts, 'open' | 'leaseMs'> & {
  readonly store: DeliveryStore
  /** Identifies this process among all senders. */
  readonly owner: string
  readonly opened: AsyncDisposableStack
}

/** Writes files of costs to the sinks that send them. */
export function openCostFiles(infrastructure: Infrastructure, { opened, store, owner, open, leaseMs }: Exports): void {
  const { config, database, encoding, clock, random, jobs, metrics, log } = infrastructure
  const { credit_usd: creditUsd } = config.credits
  const writer = opened.use(
    createCostFileWriter({
      store,
      files: costFileStore({ database, clock, owner }),
      costs: {
        totals: dayTotals((sql, params) => database.report(sql, params), clock),
        file: (organizationId, day) =>
          encoding.run('costFile', { organizationId, day, creditUsd, nowMs: clock.nowMs() }),
      },
      open,
      creditUsd,
      clock,
      random,
      leaseMs,
      onOutcome: countFiles(metrics, log),
      onError: (error, sinkId) => log.warn({ sink: sinkId, error: String(error) }, 'a file of costs failed'),
    }),
  )
  opened.use(jobs.start('write-cost-files', writer.writeDue))
}

function countFiles(metrics: Metrics, log: Log): CostFileParts['onOutcome'] {
  const labels = { outcome: deliveryOutcomes }
  const name = 'gatehouse_export_cost_files_total'
  const outcomes = metrics.counter(name, 'Files of daily costs sent to sinks, by outcome.', labels)
  return (outcome, { id }) => {
    outcomes.add({ outcome: outcome.kind })
    // Network errors of a destination are only logged, because tenants must not see them.
    if (outcome.kind === 'retry' && outcome.cause !== undefined)
      log.info({ sink: id, error: String(outcome.cause) }, 'a sink cannot be reached')
  }
}
