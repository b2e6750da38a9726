import { Worker } from 'node:worker_threads'
import { DatabaseError } from '../database.ts'
import type { ReaderOptions, StepOutcome, WorkerReply, WorkerRequest, RequestKind, StatementList } from './protocol.ts'

export type Channel = {
  /** `makeSteps` is called when the request is sent, so that a group accepts steps until then. */
  call(kind: RequestKind, makeSteps?: () => readonly StatementList[]): Promise<readonly StepOutcome[]>
  /** Resolves once the thread has ended. */
  readonly ended: Promise<void>
}

export type DatabaseThread = Channel & {
  /** Calls without an answer. */
  pending(): number
  /** Ends the thread without waiting for its statement. A thread inside a statement ends after it. */
  terminate(): void
}

export type ThreadOptions = { readonly name: string; readonly script: URL; readonly workerData: ReaderOptions }

type Waiting = { resolve(outcomes: readonly StepOutcome[]): void; reject(error: Error): void }

/** Starts a database thread and sends it one message per turn of the event loop, with all requests of that turn. */
export function startDatabaseThread({ script, ...options }: ThreadOptions): DatabaseThread {
  const worker = new Worker(script, { ...options, resourceLimits: { maxYoungGenerationSizeMb: 4 } })
  const ended = Promise.withResolvers<void>()
  const waiting = new Map<number, Waiting>()
  let outbox: { readonly id: number; readonly kind: RequestKind; makeSteps(): readonly StatementList[] }[] = []
  let lastId = 0
  let death: DatabaseError | undefined

  function flush(): void {
    const batch: WorkerRequest[] = outbox.map(({ id, kind, makeSteps }) => ({ id, kind, steps: makeSteps() }))
    outbox = []
    worker.postMessage(batch)
  }

  function die(cause: unknown): void {
    death ??= new DatabaseError('unavailable', 'the database thread has ended', cause)
    for (const { reject } of waiting.values()) reject(death)
    waiting.clear()
    ended.resolve()
  }

  worker.on('message', (replies: readonly WorkerReply[]) => {
    for (const { id, outcomes } of replies) {
      waiting.get(id)?.resolve(outcomes)
      waiting.delete(id)
    }
  })
  worker.on('error', die)
  worker.on('exit', (code) => die(new Error(`exit code ${code}`)))

  return {
    ended: ended.promise,
    pending: () => waiting.size,
    terminate: () => void worker.terminate(),
    call(kind, makeSteps = () => []) {
      if (death !== undefined) return Promise.reject(death)
      const { promise, resolve, reject } = Promise.withResolvers<readonly StepOutcome[]>()
      const id = ++lastId
      waiting.set(id, { resolve, reject })
      if (outbox.push({ id, kind, makeSteps }) === 1) setImmediate(flush)
      return promise
    },
  }
}
