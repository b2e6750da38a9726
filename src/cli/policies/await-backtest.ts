import type { BacktestBody } from '../../http/admin/policies/backtest-schema.ts'
import type { Clock } from '../../base/clock.ts'

export type AwaitBacktestOptions = {
  readonly read: () => Promise<BacktestBody>
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Keeps the process alive while it waits, which the timers of the clock do not. */
  readonly wait: (ms: number) => Promise<unknown>
  /** Replaces the line that was shown before; undefined without a terminal. */
  readonly progress: ((text: string) => void) | undefined
}

const everyMs = 300
/** A backtest without progress for this long is not running: no server works on it. */
const timeoutMs = 20_000
const barWidth = 30

/** Polls a backtest until it has ended or makes no more progress. */
export async function awaitBacktest(
  started: BacktestBody,
  { read, clock, wait, progress }: AwaitBacktestOptions,
): Promise<BacktestBody> {
  let latest = started
  let progressAtMs = clock.monotonicMs()
  while (latest.status === 'running' && clock.monotonicMs() - progressAtMs < timeoutMs) {
    progress?.(barOf(latest))
    await wait(everyMs)
    const next = await read()
    if (next.progress.done !== latest.progress.done) progressAtMs = clock.monotonicMs()
    latest = next
  }
  progress?.('')
  return latest
}

/** `[=========>          ]  48 %  480 of 1000`. */
export function barOf({ progress: { done, total } }: Pick<BacktestBody, 'progress'>): string {
  const share = total === 0 ? 0 : Math.min(1, done / total)
  const filled = Math.round(share * barWidth)
  return `[${'='.repeat(filled)}${' '.repeat(barWidth - filled)}] ${Math.floor(share * 100)} %  ${done} of ${total} events`
}
