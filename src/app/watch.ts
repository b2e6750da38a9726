import { decisionCounts } from '../adapters/stores/sql/gateway/decision-counts.ts'
import { createTakeOut } from '../domain/governance/watch/take-out.ts'
import { createWatch, type Watch } from '../domain/governance/watch/watch.ts'
import type { Administration } from './administration.ts'
import type { Ground } from './ground.ts'

type WatchGround = Pick<Ground, 'built' | 'database' | 'clock' | 'log' | 'warn'>

/** Watches for spikes of denials until the house is closed. */
export function openWatch(
  ground: WatchGround,
  { reads, administer }: Pick<Administration, 'reads' | 'administer'>,
): Watch {
  const { built, database, clock, log, warn } = ground
  return built.use(
    createWatch({
      counts: decisionCounts(database),
      takeOut: createTakeOut({ reads, administer, clock }),
      clock,
      onTakenOut: (watched) => log.warn({ ...watched }, 'denials spiked, and what denied them is out of force'),
      onError: warn('denials cannot be watched'),
    }),
  )
}
