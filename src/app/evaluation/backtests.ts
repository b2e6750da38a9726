import { setImmediate } from 'node:timers/promises'
import { backtestQueue, forgetBacktestLeases } from '../../adapters/stores/sql/policies/backtests.ts'
import { createReplay, type ReplayParts } from '../../domain/evaluation/backtest/replay.ts'
import { createBacktestRunner } from '../../domain/evaluation/backtest/runner.ts'
import type { Infrastructure } from '../infrastructure.ts'

const leaseMs = 60_000

/** Runs backtests until the app is closed. */
export function openBacktests(ground: Infrastructure, parts: ReplayParts): void {
  const { built, database, clock, ids, jobs, warn } = ground
  if (database.engine === 'sqlite') {
    void forgetBacktestLeases(database).catch(warn('a backtest may wait for a minute'))
  }
  const runner = built.use(
    createBacktestRunner({
      queue: backtestQueue({ database, clock, owner: ids('node'), leaseMs }),
      replay: createReplay(parts),
      clock,
      pause: setImmediate,
      onError: warn('a backtest broke off'),
    }),
  )
  built.use(jobs.start('run-backtests', runner.run))
}
