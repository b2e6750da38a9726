import cluster from 'node:cluster'
import type { Workers, WorkerState } from '../../app/workers.ts'
import type { ProcessMetrics } from '../../base/merge-metrics.ts'
import { systemClock } from '../../base/clock.ts'
import type { Environment } from '../../config/config.ts'
import { workerVariable, type FromWorker, type ToWorker, type WorkerStart } from './messages.ts'

/** This process as one of several workers. */
export type OwnWorker = Workers & {
  readonly isRestart: boolean
  /** Tells the supervisor that this process serves. */
  ready(): void
  /** Calls back if the supervisor dies. Without it Node would end this process at once. */
  onSupervisorGone(callback: () => void): void
  /** Closes the connection to the supervisor, which would keep the process alive. */
  leave(): void
}

/** A worker that needs longer is missing from a scrape. Prometheus waits ten seconds by default. */
const metricsTimeoutMs = 1_000

/** Connects to the supervisor; undefined if no supervisor has started this process. */
export function joinWorkers(env: Environment): OwnWorker | undefined {
  const { worker } = cluster
  const variable = env[workerVariable]
  if (worker === undefined || variable === undefined) return undefined
  const { number, count, isRestart } = JSON.parse(variable) as WorkerStart
  const send = (message: FromWorker): void => {
    if (worker.isConnected()) worker.send(message)
  }
  const metrics = createMetricsReader(send)
  // Until the supervisor has told them, which is a moment after this worker serves.
  let states = Array.from({ length: count }, (_, at): WorkerState => ({ number: at + 1, restarts: 0, isReady: false }))
  let expose = (): string => ''
  process.on('message', (message: ToWorker) => {
    if (message.type === 'states') states = [...message.states]
    else if (message.type === 'metrics') metrics.answered(message)
    else send({ type: 'metrics', to: message.by, id: message.id, text: expose() })
  })
  return {
    number,
    count,
    isRestart,
    states: () => states,
    readOthers: () => metrics.read(states.filter((state) => state.isReady && state.number !== number).length),
    answerWith: (answer) => void (expose = answer),
    ready: () => send({ type: 'ready' }),
    onSupervisorGone: (callback) =>
      worker.once('disconnect', () => {
        worker.exitedAfterDisconnect = true
        callback()
      }),
    leave() {
      worker.exitedAfterDisconnect = true
      if (worker.isConnected()) process.disconnect?.()
    },
  }
}

/** Collects the answers to each question until all are there, or the time is over. */
function createMetricsReader(send: (message: FromWorker) => void) {
  const open = new Map<number, (answer: ProcessMetrics) => void>()
  let lastId = 0
  return {
    answered: ({ of, id, text }: Extract<ToWorker, { type: 'metrics' }>) => open.get(id)?.({ worker: of, text }),
    read(expected: number): Promise<readonly ProcessMetrics[]> {
      const id = ++lastId
      const answers: ProcessMetrics[] = []
      return new Promise((resolve) => {
        const end = (): void => {
          cancel()
          open.delete(id)
          resolve(answers)
        }
        const cancel = systemClock.after(metricsTimeoutMs, end)
        open.set(id, (answer) => {
          answers.push(answer)
          if (answers.length === expected) end()
        })
        if (expected === 0) end()
        else send({ type: 'read metrics', id })
      })
    },
  }
}
