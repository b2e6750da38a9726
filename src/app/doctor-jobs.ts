import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { systemClock } from '../base/clock.ts'
import type { Config } from '../config/config.ts'
import { fileValuesOf } from '../config/file-values.ts'
import { jobs, type JobDefinition } from '../jobs/jobs.ts'
import { readJobMetrics, type JobTimes } from '../jobs/job-metrics.ts'
import { askRunningServer } from './running-server.ts'
import { planListeners } from './listen-addresses.ts'

export type JobDiagnosis = {
  readonly part: string
  readonly state: 'ok' | 'warning'
  readonly message: string
  readonly fix?: string
}

const metricsTimeoutMs = 3_000

/** Lists the jobs of this configuration, and when each last succeeded if a server answers at its metrics address. */
export const checkJobs = async (config: Config): Promise<JobDiagnosis[]> =>
  diagnoseJobs(config, await readMetrics(config), systemClock.nowMs())

/** The same from the text of `/metrics`; undefined if no server answers. */
export function diagnoseJobs(config: Config, metrics: string | undefined, nowMs: number): JobDiagnosis[] {
  const times = metrics === undefined ? undefined : readJobMetrics(metrics)
  return startedJobs(config).map((job) => diagnoseJob(job, times && (times.get(job.name) ?? {}), nowMs))
}

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

/** The text of `/metrics` of the server that runs on the data folder or that this configuration describes; undefined if none answers. */
async function readMetrics(config: Config): Promise<string | undefined> {
  return (await askRunningServer(config, '/metrics', metricsTimeoutMs)) ?? readPort(config)
}

function readPort({ server }: Config): Promise<string | undefined> {
  const listener = planListeners(server).find(({ purposes }) => purposes.has('metrics'))
  if (listener === undefined || listener.port === 0) return Promise.resolve(undefined)
  const { host, port, purposes } = listener
  const isSecure = server.tls !== undefined && (server.tls.metrics || purposes.size > 1)
  return new Promise((resolve) => {
    const none = (): void => resolve(undefined)
    // The certificate names the public host, not the address that the server listens on; the metrics hold no secrets.
    const options = { host, port, path: '/metrics', timeout: metricsTimeoutMs, rejectUnauthorized: false }
    const request = (isSecure ? requestHttps : requestHttp)(options, (response) => {
      const chunks: Buffer[] = []
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .once('error', none)
        .once('end', () => resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString() : undefined))
    })
    request
      .once('error', none)
      .once('timeout', () => request.destroy())
      .end()
  })
}
