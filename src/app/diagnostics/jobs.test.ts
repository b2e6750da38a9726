import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { systemClock } from '../../base/clock.ts'
import { createMetrics } from '../../base/metrics.ts'
import { mergeMetrics } from '../../base/merge-metrics.ts'
import { readConfig, type Config } from '../../config/config.ts'
import { createJobMetrics } from '../../jobs/job-metrics.ts'
import { diagnoseJobs } from './jobs.ts'
import { readRunningMetrics } from './running-metrics.ts'

const configOf = (port: number, more: Record<string, string> = {}) =>
  readConfig({ GATEHOUSE_METRICS_PORT: String(port), ...more })

const checkJobs = async (config: Config) => diagnoseJobs(config, await readRunningMetrics(config), systemClock.nowMs())

describe('the jobs that the doctor lists', () => {
  it('are those of the configuration, with interval and purpose if no server runs', async () => {
    const embedded = await checkJobs(configOf(9))
    const ofJob = (name: string) => embedded.find(({ part }) => part === `job ${name}`)
    assert.match(ofJob('sign-audit-log')?.message ?? '', /^every 10 s on one node\. Signs a checkpoint/)
    assert.equal(ofJob('watch-changes'), undefined)
    const shared = await checkJobs(configOf(9, { DATABASE_URL: 'postgres://127.0.0.1/x' }))
    assert.ok(shared.some(({ part }) => part === 'job watch-changes'))
    assert.ok(!shared.some(({ part }) => part === 'job save-limit-usage'))
  })

  it('have the times of their last runs if a server answers, and warn about a job that fails', async () => {
    const metrics = createMetrics()
    const countRun = createJobMetrics(metrics)
    const nowMs = systemClock.nowMs()
    countRun('sign-audit-log', { result: 'ok', endedAtMs: nowMs - 3_000, seconds: 0 })
    countRun('send-exports', { result: 'ok', endedAtMs: nowMs - 7_200_000, seconds: 0 })
    countRun('send-exports', { result: 'failed', endedAtMs: nowMs - 1_000, seconds: 0 })
    const server = createServer((_request, response) => void response.end(metrics.expose())).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const listed = await checkJobs(configOf((server.address() as AddressInfo).port))
    server.close()
    const ofJob = (name: string) => listed.find(({ part }) => part === `job ${name}`)
    assert.match(ofJob('sign-audit-log')?.message ?? '', /; last success 3 s ago$/)
    assert.match(ofJob('trim-audit-log')?.message ?? '', /; it has not run yet$/)
    const failing = ofJob('send-exports')
    assert.equal(failing?.state, 'warning')
    assert.match(failing.message, /; failed 1 s ago, last success 2 h ago$/)
  })
  it('have the last run on any worker, and warn if a job of each node fails on one of them', () => {
    const nowMs = systemClock.nowMs()
    const textOf = (runs: Parameters<ReturnType<typeof createJobMetrics>>[]): string => {
      const metrics = createMetrics()
      const countRun = createJobMetrics(metrics)
      for (const run of runs) countRun(...run)
      return metrics.expose()
    }
    const run = (result: 'ok' | 'failed', secondsAgo: number) =>
      ({ result, endedAtMs: nowMs - secondsAgo * 1_000, seconds: 0 }) as const
    const one = textOf([
      ['sign-audit-log', run('failed', 9)],
      ['watch-changes', run('ok', 1)],
    ])
    const two = textOf([
      ['sign-audit-log', run('ok', 3)],
      ['watch-changes', run('failed', 2)],
    ])
    const merged = mergeMetrics([
      { worker: 1, text: one },
      { worker: 2, text: two },
    ])
    const listed = diagnoseJobs(configOf(9, { DATABASE_URL: 'postgres://127.0.0.1/x' }), merged, nowMs)
    const ofJob = (name: string) => listed.find(({ part }) => part === `job ${name}`)
    assert.match(ofJob('sign-audit-log')?.message ?? '', /; last success 3 s ago$/)
    assert.match(ofJob('watch-changes')?.message ?? '', /; failed 2 s ago, it has not succeeded yet$/)
  })
})
