import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createHandClock } from '../../test/support/hand-clock.ts'
import { createMetrics } from '../base/metrics.ts'
import { readJobMetrics } from './job-metrics.ts'
import { jobs } from './jobs.ts'
import { createScheduler } from './scheduler.ts'

const name = 'sign-audit-log'
const everyMs = 10_000

function createScene() {
  const { clock, pass, waiting } = createHandClock()
  const lines: unknown[] = []
  const write = (fields: unknown, message?: unknown): void => void lines.push([message, fields])
  const metrics = createMetrics()
  const scheduler = createScheduler({ clock, log: { warn: write, info: write }, metrics })
  return { scheduler, lines, metrics, pass, waiting }
}

describe('the scheduler', () => {
  it('runs a job at its interval until it is disposed of', async () => {
    const { scheduler, pass, waiting } = createScene()
    let runs = 0
    const started = scheduler.start(name, async () => runs++)
    await pass(everyMs - 1)
    assert.equal(runs, 0)
    await pass(1)
    await pass(everyMs)
    assert.equal(runs, 2)
    started[Symbol.dispose]()
    assert.equal(waiting(), 0)
  })

  it('does not start a run before the last one has ended', async () => {
    const { scheduler, pass } = createScene()
    const first = Promise.withResolvers<void>()
    let runs = 0
    scheduler.start(name, () => (runs++ === 0 ? first.promise : Promise.resolve()))
    for (let count = 0; count < 3; count++) await pass(everyMs)
    assert.equal(runs, 1)
    first.resolve()
    await pass(0)
    await pass(everyMs)
    assert.equal(runs, 2)
  })

  it('continues after a failure, and logs the same error once a minute and the recovery once', async () => {
    const { scheduler, lines, pass } = createScene()
    let error: Error | undefined = new Error('away')
    scheduler.start(name, () => (error ? Promise.reject(error) : Promise.resolve()))
    for (let count = 0; count < 7; count++) await pass(everyMs)
    const failed = ['job failed', { job: name, error: 'Error: away' }]
    assert.deepEqual(lines, [failed, failed])
    error = undefined
    for (let count = 0; count < 2; count++) await pass(everyMs)
    assert.deepEqual(lines.slice(2), [['job succeeded again', { job: name }]])
  })

  it('counts runs by result, and exposes when a job last succeeded and failed', async () => {
    const { scheduler, metrics, pass } = createScene()
    let runs = 0
    scheduler.start(name, async () => {
      if (++runs === 2) throw new Error('away')
    })
    assert.deepEqual([...readJobMetrics(metrics.expose())], [])
    for (let count = 0; count < 3; count++) await pass(everyMs)
    assert.match(metrics.expose(), /^gatehouse_job_runs_total\{job="sign-audit-log",result="ok"\} 2$/m)
    assert.match(metrics.expose(), /^gatehouse_job_runs_total\{job="sign-audit-log",result="failed"\} 1$/m)
    const times = { lastSuccessMs: 3 * everyMs, lastFailureMs: 2 * everyMs }
    assert.deepEqual([...readJobMetrics(metrics.expose())], [[name, [times]]])
  })
})

describe('the list of jobs', () => {
  it('has exactly the jobs that are started, each started once', () => {
    const root = join(import.meta.dirname, '..')
    const files = globSync('{app,jobs}/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts'))
    const started = files.flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/\bstart\('([\w-]+)'/g)].map((match) => match[1] ?? ''),
    )
    assert.equal(started.length, new Set(started).size)
    assert.deepEqual(new Set(started), new Set(jobs.map((job) => job.name)))
  })
})
