import type { Config } from '../../config/config.ts'
import { fileValuesOf } from '../../config/file-values.ts'
import type { JobDefinition } from '../../jobs/job-definition.ts'
import { jobs } from '../../jobs/jobs.ts'
import { readJobMetrics, type JobTimes } from '../../jobs/job-metrics.ts'

export type JobDiagnosis = {
  readonly part: string
  readonly state: 'ok' | 'warning'
  readonly message: string
  readonly fix?: string
}

/**
 * Lists the jobs of this configuration, and when each last succeeded by the text of `/metrics`, which is undefined if no server
 * answers.
 */
export function diagnoseJobs(config: Config, metrics: string | undefined, nowMs: number): JobDiagnosis[] {
  const times = metrics === undefined ? undefined : readJobMetrics(metrics)
  return startedJobs(config).map((job) => diagnoseJob(job, times && timesOf(job, times.get(job.name)), nowMs))
}

/** A job that runs on one node may have run on any worker. If each worker runs it, the one that is worst off counts. */
function timesOf({ runs }: JobDefinition, byWorker: readonly JobTimes[] = []): JobTimes {
  const newest = (ms: readonly (number | undefined)[]): number | undefined =>
    ms.reduce((last, each) => (each !== undefined && each > (last ?? 0) ? each : last), undefined)
  if (runs === 'each node') return byWorker.find(isFailing) ?? byWorker[0] ?? {}
  const [lastSuccessMs, lastFailureMs] = [
    newest(byWorker.map((times) => times.lastSuccessMs)),
    newest(byWorker.map((times) => times.lastFailureMs)),
  ]
  return {
    ...(lastSuccessMs !== undefined && { lastSuccessMs }),
    ...(lastFailureMs !== undefined && { lastFailureMs }),
  }
}

const isFailing = ({ lastSuccessMs = 0, lastFailureMs = 0 }: JobTimes): boolean => lastFailureMs > lastSuccessMs

function startedJobs(config: Config): JobDefinition[] {
  const { database_url: databaseUrl, redis_url: redisUrl } = config.storage
  const has: Readonly<Record<NonNullable<JobDefinition['onlyWith']>, boolean>> = {
    PostgreSQL: databaseUrl !== undefined,
    Redis: redisUrl !== undefined,
    'embedded storage': databaseUrl === undefined && redisUrl === undefined,
    'server.tls': config.server.tls !== undefined,
    'values from files': fileValuesOf(config).length > 0,
    'console.enabled': config.console.enabled,
    'traces.endpoint': config.traces.endpoint !== undefined,
    'credits.retention_days': config.credits.retention_days !== undefined,
  }
  return jobs.filter((job: JobDefinition) => job.onlyWith === undefined || has[job.onlyWith])
}

/** `times` is undefined if no server answers, and empty if the job has not run yet. */
function diagnoseJob(job: JobDefinition, times: JobTimes | undefined, nowMs: number): JobDiagnosis {
  const part = `job ${job.name}`
  const where = `every ${durationOf(job.everyMs)} on ${job.runs}`
  if (times === undefined) return { part, state: 'ok', message: `${where}. ${job.purpose}` }
  const { lastSuccessMs, lastFailureMs } = times
  const ago = (atMs: number): string => `${durationOf(Math.max(0, nowMs - atMs))} ago`
  if (lastFailureMs !== undefined && lastFailureMs > (lastSuccessMs ?? 0)) {
    const success = lastSuccessMs === undefined ? 'it has not succeeded yet' : `last success ${ago(lastSuccessMs)}`
    const fix = `The log of the server has the reason: search for "job failed" with job=${job.name}.`
    return { part, state: 'warning', message: `${where}; failed ${ago(lastFailureMs)}, ${success}`, fix }
  }
  if (lastSuccessMs === undefined) return { part, state: 'ok', message: `${where}; it has not run yet` }
  return { part, state: 'ok', message: `${where}; last success ${ago(lastSuccessMs)}` }
}

function durationOf(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 120 && seconds !== 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 && minutes !== 60 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}
