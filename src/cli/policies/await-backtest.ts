import type { ShownBacktest } from '../../app/operations/backtests.ts'
import type { Clock } from '../../base/clock.ts'

export type AwaitBacktestOptions = {
  readonly read: () => Promise<ShownBacktest>
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Keeps the process alive meanwhile, as the clock's own timers do not. */
  readonly wait: (ms: number) => Promise<unknown>
  /** Shown over what was shown before; undefined where nobody watches. */
  readonly progress: ((text: string) => void) | undefined
}

const everyMs = 300
/** Nobody works on what got no further for so long. */
const timeoutMs = 20_000
const barWidth = 30

/** Waits until it has ended, or until nothing has happened for a while. */
export async function awaitBacktest(
  begun: ShownBacktest,
  { read, clock, wait, progress }: AwaitBacktestOptions,
): Promise<ShownBacktest> {
  let latest = begun
  let movedAtMs = clock.monotonicMs()
  while (latest.status === 'running' && clock.monotonicMs() - movedAtMs < timeoutMs) {
    progress?.(barOf(latest))
    await wait(everyMs)
    const next = await read()
    if (next.progress.done !== latest.progress.done) movedAtMs = clock.monotonicMs()
    latest = next
  }
  progress?.('')
  return latest
}

/** `[=========>          ]  48 %  480 of 1000`. */
export function barOf({ progress: { done, total } }: Pick<ShownBacktest, 'progress'>): string {
  const share = total === 0 ? 0 : Math.min(1, done / total)
  const filled = Math.round(share * barWidth)
  return `[${'='.repeat(filled)}${' '.repeat(barWidth - filled)}] ${Math.floor(share * 100)} %  ${done} of ${total} events`
}
