import { setImmediate } from 'node:timers/promises'
import { backtestQueue, releaseBacktestLeases } from '../../adapters/stores/sql/policies/backtests.ts'
import { decisionCounts, decisionSums, rolloutArms } from '../../adapters/stores/sql/policies/decision-counts.ts'
import { expiredExceptions, listExpiredExceptions } from '../../adapters/stores/sql/policies/exceptions.ts'
import { gatewayStore } from '../../adapters/stores/sql/policies/gateway-configurations.ts'
import { policyStore } from '../../adapters/stores/sql/policies/policies.ts'
import { reportedSpikes } from '../../adapters/stores/sql/policies/reported-spikes.ts'
import type { Transaction } from '../../adapters/stores/sql/database.ts'
import { createGatewayReplay, type GatewayReplayParts } from '../../domain/evaluation/backtest/gateway-replay.ts'
import { createReplay, type ReplayParts } from '../../domain/evaluation/backtest/replay.ts'
import { createBacktestRunner } from '../../domain/evaluation/backtest/runner.ts'
import { createActOnSpike, spikeActions, type SpikeStores } from '../../domain/evaluation/spikes/act-on-spike.ts'
import { gatewaySubject } from '../../domain/evaluation/spikes/counted-decisions.ts'
import { createSpikeMonitor, type SpikeMonitor } from '../../domain/evaluation/spikes/spike-monitor.ts'
import { createRecordExpired } from '../../domain/exceptions/record-expired.ts'
import { upperBoundBp } from '../../domain/gate/bound.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { Stores } from '../stores.ts'

/** What a denial spike is recognised from, and what is done about it. */
export const spikeStores = (tx: Transaction): SpikeStores => ({
  policies: policyStore(tx),
  gateway: gatewayStore(tx),
  decisions: { ...decisionSums(tx), ...rolloutArms(tx) },
  spikes: reportedSpikes(tx),
})

/** Watches for spikes of denials until the app is closed. */
export function openSpikeMonitor(infrastructure: Infrastructure, stores: Stores): SpikeMonitor {
  const { built, database, clock, ids, log, metrics, jobs, warn } = infrastructure
  const help = 'Denial spikes: of a policy or the gateway configuration, which was disabled or only reported.'
  const labels = { subject: ['policy', 'gateway'], action: [...spikeActions] }
  const spikes = metrics.counter('gatehouse_spikes_total', help, labels)
  const counts = decisionCounts(database, ids)
  const monitor = built.use(
    createSpikeMonitor({
      counts,
      actOnSpike: createActOnSpike({ ...stores.of(spikeStores), counts, clock, upperBoundBp }),
      clock,
      onSpike(monitored, action) {
        spikes.add({ subject: monitored.subject === gatewaySubject ? 'gateway' : 'policy', action })
        log.warn({ ...monitored, action }, 'the denials of a policy or of the gateway configuration spiked')
      },
      onError: warn('decision counts could not be written'),
    }),
  )
  built.use(jobs.start('watch-denial-spikes', monitor.run))
  return monitor
}

/** Records the exceptions that expire, until the app is closed. */
export function openExpiredExceptions({ built, database, clock, jobs }: Infrastructure, stores: Stores): void {
  const { mutate } = stores.of((tx) => ({ expired: expiredExceptions(tx) }))
  const listExpired = () => listExpiredExceptions({ query: (sql, params) => database.read(sql, params) }, clock.nowMs())
  built.use(jobs.start('record-expired-exceptions', createRecordExpired({ listExpired, mutate })))
}

const backtestLeaseMs = 60_000

/** Runs backtests until the app is closed. */
export function openBacktests(
  infrastructure: Infrastructure,
  { encryptions }: Stores,
  parts: ReplayParts & GatewayReplayParts,
): void {
  const { built, config, database, clock, ids, jobs, warn } = infrastructure
  const sampleEncryption = config.audit.replay_sample && encryptions.replaySample
  if (database.engine === 'sqlite') {
    void releaseBacktestLeases(database).catch(
      warn('the lease of a backtest could not be released; it waits for a minute'),
    )
  }
  const runner = built.use(
    createBacktestRunner({
      queue: backtestQueue({ database, clock, owner: ids('node'), leaseMs: backtestLeaseMs, sampleEncryption }),
      replay: createReplay(parts),
      gatewayReplay: createGatewayReplay(parts),
      clock,
      pause: setImmediate,
      onError: warn('a backtest failed'),
    }),
  )
  built.use(jobs.start('run-backtests', runner.run))
}
