import type { WorkerState } from '../../app/workers.ts'

/** From a worker to the supervisor. */
export type FromWorker =
  | { readonly type: 'ready' }
  /** Asks for the metrics of the other workers. */
  | { readonly type: 'read metrics'; readonly id: number }
  /** The metrics of this worker, for the one that asked. */
  | { readonly type: 'metrics'; readonly to: number; readonly id: number; readonly text: string }

/** From the supervisor to a worker. */
export type ToWorker =
  | { readonly type: 'states'; readonly states: readonly WorkerState[] }
  | { readonly type: 'read metrics'; readonly by: number; readonly id: number }
  | { readonly type: 'metrics'; readonly of: number; readonly id: number; readonly text: string }

/** What a worker is told at its start, in the variable `workerVariable`. */
export type WorkerStart = {
  readonly number: number
  readonly count: number
  /** Whether an earlier process with this number died. */
  readonly isRestart: boolean
}

export const workerVariable = 'GATEHOUSE_WORKER'
