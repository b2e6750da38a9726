import { decisionCounts } from '../../adapters/stores/sql/gateway-config/decision-counts.ts'
import { gatewaySubject } from '../../domain/evaluation/spikes/counted-outcomes.ts'
import { createAutoDisable } from '../../domain/evaluation/spikes/auto-disable.ts'
import { createSpikeMonitor, type SpikeMonitor } from '../../domain/evaluation/spikes/spike-monitor.ts'
import type { Administration } from '../administration.ts'
import type { Infrastructure } from '../infrastructure.ts'

type WatchGround = Pick<Infrastructure, 'built' | 'database' | 'clock' | 'log' | 'metrics' | 'jobs' | 'warn'>

/** Watches for spikes of denials until the app is closed. */
export function openSpikeMonitor(
  ground: WatchGround,
  { reads, administer }: Pick<Administration, 'reads' | 'administer'>,
): SpikeMonitor {
  const { built, database, clock, log, metrics, jobs, warn } = ground
  const help = 'Policies paused and gateway configurations rolled back because their denials spiked.'
  const spikes = metrics.counter('gatehouse_spikes_total', help, { subject: ['policy', 'gateway'] })
  const monitor = built.use(
    createSpikeMonitor({
      counts: decisionCounts(database),
      takeOut: createAutoDisable({ reads, administer, clock }),
      clock,
      onTakenOut(watched) {
        spikes.add({ subject: watched.subject === gatewaySubject ? 'gateway' : 'policy' })
        log.warn({ ...watched }, 'denials spiked, and what denied them is out of force')
      },
      onError: warn('denials cannot be watched'),
    }),
  )
  built.use(jobs.start('watch-denial-spikes', monitor.look))
  return monitor
}
