import { minuteMs, repeat, type Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import { createJobMetrics } from './job-metrics.ts'
import type { JobDefinition } from './job-definition.ts'
import { jobs, type JobName } from './jobs.ts'

export type SchedulerParts = {
  readonly clock: Clock
  readonly log: Pick<Log, 'warn' | 'info'>
  readonly metrics: Metrics
}

/** Starts the jobs of the list. */
export type Scheduler = {
  /**
   * Runs the job at its interval until the returned object is disposed of. The next run is scheduled only when the last one
   * has ended, so a job never overlaps with itself. Disposing does not wait for a run that has begun.
   */
  start(name: JobName, run: () => Promise<unknown>): Disposable
}

/** A job that fails for the same reason over and over is logged this often. */
const logAgainMs = minuteMs

/** A failed run is logged and counted, and the job runs again at its interval. */
export function createScheduler({ clock, log, metrics }: SchedulerParts): Scheduler {
  const countRun = createJobMetrics(metrics)
  const definitions = new Map<string, JobDefinition>(jobs.map((job) => [job.name, job]))

  return {
    start(name, run) {
      const everyMs = definitions.get(name)?.everyMs
      if (everyMs === undefined) throw new Error(`There is no job ${name}.`)
      let logged: { readonly error: string; readonly atMs: number } | undefined

      const onFailed = (error: string): void => {
        if (logged?.error === error && clock.monotonicMs() - logged.atMs < logAgainMs) return
        log.warn({ job: name, error }, 'job failed')
        logged = { error, atMs: clock.monotonicMs() }
      }
      const onSucceeded = (): void => {
        if (logged !== undefined) log.info({ job: name }, 'job succeeded again')
        logged = undefined
      }
      const runOnce = async (): Promise<void> => {
        const startedMs = clock.monotonicMs()
        const failure = await run().then(
          () => undefined,
          (error: unknown) => ({ error: String(error) }),
        )
        const seconds = (clock.monotonicMs() - startedMs) / 1000
        countRun(name, { result: failure ? 'failed' : 'ok', endedAtMs: clock.nowMs(), seconds })
        if (failure) onFailed(failure.error)
        else onSucceeded()
      }
      return repeat(clock, runOnce, everyMs)
    },
  }
}
