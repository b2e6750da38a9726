import { join } from 'node:path'
import { hostname } from 'node:os'
import { mergeMetrics, type ProcessMetrics } from '../base/merge-metrics.ts'
import { createMetrics, type Metrics } from '../base/metrics.ts'
import type { ReadinessCheck } from '../http/service/health.ts'

/** The processes that serve the same ports, as one of them sees them. `gatehouse serve` provides it. */
export type Workers = {
  /** The number of this process, from 1. */
  readonly number: number
  readonly count: number
  /** All workers, this one included. */
  states(): readonly WorkerState[]
  /** The metrics of the other workers. One that does not answer in time is missing. */
  readOthers(): Promise<readonly ProcessMetrics[]>
  /** Sets what this process answers when another one reads its metrics. */
  answerWith(expose: () => string): void
}

export type WorkerState = {
  readonly number: number
  readonly isReady: boolean
  /** How often it was started again after it died. */
  readonly restarts: number
}

type Numbered = Pick<Workers, 'number'>

/** The folder of what waits for PostgreSQL. Each worker has one of its own, so that no two of them write the same rows. */
export const spoolFolder = (dataDir: string, worker: Numbered | undefined): string =>
  worker === undefined ? dataDir : join(dataDir, `worker-${worker.number}`)

/** The name of this node: that of the machine, and the number of the worker if there are several. */
export const nodeName = (worker: Numbered | undefined): string =>
  worker === undefined ? hostname() : `${hostname()}/${worker.number}`

/** Reads the metrics of all workers, whichever of them is asked. */
export function createReadMetrics(metrics: Metrics, workers: Workers | undefined): () => Promise<string> {
  if (workers === undefined) return async () => metrics.expose()
  workers.answerWith(metrics.expose)
  return async () => {
    const others = await workers.readOthers()
    const answered = [{ worker: workers.number, text: metrics.expose() }, ...others]
    return mergeMetrics(answered.sort((a, b) => a.worker - b.worker)) + stateMetrics(workers.states(), answered)
  }
}

const upName = 'gatehouse_worker_up'
const restartsName = 'gatehouse_worker_restarts_total'

function stateMetrics(states: readonly WorkerState[], answered: readonly ProcessMetrics[]): string {
  const metrics = createMetrics()
  metrics.readings(
    [
      {
        name: upName,
        help: '0 if the worker is being started again or did not answer in time, so that its metrics are missing.',
        type: 'gauge',
      },
      { name: restartsName, help: 'How often the worker was started again after it died.', type: 'counter' },
    ],
    () =>
      states.flatMap(({ number, restarts }) => {
        const labels = { worker: String(number) }
        const isUp = answered.some(({ worker }) => worker === number)
        return [
          { name: upName, labels, value: isUp ? 1 : 0 },
          { name: restartsName, labels, value: restarts },
        ]
      }),
  )
  return metrics.expose()
}

/** A worker that is being started does not make the others unready: they get its connections. */
export const workerChecks = (workers: Workers | undefined): ReadinessCheck[] =>
  workers === undefined ? [] : [{ part: 'workers', problem: async () => workerProblem(workers), isVital: () => false }]

function workerProblem(workers: Workers): string | undefined {
  const missing = workers.states().filter(({ isReady }) => !isReady)
  if (missing.length === 0) return undefined
  return `being started: ${missing.map(({ number }) => number).join(', ')} of ${workers.count}`
}
