import type { Metrics } from '../base/metrics.ts'
import { jobs, type JobName } from './jobs.ts'

/** Times of the last run of a job that succeeded and the last that failed, as Unix milliseconds. */
export type JobTimes = { readonly lastSuccessMs?: number; readonly lastFailureMs?: number }

export type JobRun = { readonly result: 'ok' | 'failed'; readonly endedAtMs: number; readonly seconds: number }

const lastSuccess = 'gatehouse_job_last_success_timestamp_seconds'
const lastFailure = 'gatehouse_job_last_failure_timestamp_seconds'

/** Returns a function that counts one run of a job. */
export function createJobMetrics(metrics: Metrics): (job: JobName, run: JobRun) => void {
  const job = jobs.map(({ name }) => name)
  const runs = metrics.counter('gatehouse_job_runs_total', 'Runs of periodic jobs.', { job, result: ['ok', 'failed'] })
  const seconds = metrics.counter('gatehouse_job_seconds_total', 'Time that runs of periodic jobs took.', { job })
  const times = { ok: new Map<string, number>(), failed: new Map<string, number>() }
  const readingsOf = (name: string, atMs: ReadonlyMap<string, number>) =>
    [...atMs].map(([label, ms]) => ({ name, labels: { job: label }, value: ms / 1000 }))
  metrics.readings(
    [
      { name: lastSuccess, help: 'When a periodic job last succeeded, in Unix seconds.', type: 'gauge' },
      { name: lastFailure, help: 'When a periodic job last failed, in Unix seconds.', type: 'gauge' },
    ],
    () => [...readingsOf(lastSuccess, times.ok), ...readingsOf(lastFailure, times.failed)],
  )
  return (name, run) => {
    runs.add({ job: name, result: run.result })
    seconds.add({ job: name }, run.seconds)
    times[run.result].set(name, run.endedAtMs)
  }
}

/**
 * Reads the times of each job from the text of a server's `/metrics`, one entry for each worker that has run it. A job that has not run
 * yet is left out.
 */
export function readJobMetrics(text: string): ReadonlyMap<string, readonly JobTimes[]> {
  const times = new Map<string, Map<string, JobTimes>>()
  for (const [, metric, worker = '', name = '', value] of text.matchAll(sample)) {
    if (metric !== lastSuccess && metric !== lastFailure) continue
    const atMs = Number(value) * 1000
    const byWorker = times.get(name) ?? new Map<string, JobTimes>()
    times.set(name, byWorker)
    const time = metric === lastSuccess ? { lastSuccessMs: atMs } : { lastFailureMs: atMs }
    byWorker.set(worker, { ...byWorker.get(worker), ...time })
  }
  return new Map([...times].map(([name, byWorker]) => [name, [...byWorker.values()]]))
}

const sample = /^(\w+)\{(?:worker="(\d+)",)?job="([^"]+)"\} (\S+)$/gm
