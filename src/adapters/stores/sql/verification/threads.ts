import { Worker } from 'node:worker_threads'
import { DatabaseError, type Database } from '../database.ts'
import { mapError } from '../error-mapping.ts'
import type { ThreadMessage, VerificationJob, VerificationJobs, VerificationKind } from './jobs.ts'
import type { ReadSource } from './reader.ts'

export type VerificationOptions<Progress> = {
  /** Ends the thread; the promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** Runs verifications beside the requests, each in a thread with a database connection of its own. */
export type VerificationThreads = AsyncDisposable & {
  run<Kind extends VerificationKind>(
    kind: Kind,
    input: VerificationJobs[Kind]['input'],
    options?: VerificationOptions<VerificationJobs[Kind]['progress']>,
  ): Promise<VerificationJobs[Kind]['result']>
}

/** `database` commits what is pending before a thread reads. Disposing ends the threads, and must precede that of the database. */
export function createVerificationThreads(database: Database, source: ReadSource): VerificationThreads {
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    async run(kind, input, { signal, onProgress } = {}) {
      const job = { kind, source, input } as VerificationJob
      const signals = AbortSignal.any([closing.signal, ...(signal ? [signal] : [])])
      const result = runAfterCommit(database, () =>
        runThread(job, { signal: signals, onProgress: onProgress as OnProgress }),
      )
      running.add(result)
      try {
        return (await result) as VerificationJobs[typeof kind]['result']
      } finally {
        running.delete(result)
      }
    },
    async [Symbol.asyncDispose]() {
      closing.abort(mapError(new DatabaseError('unavailable', 'the database is closed')))
      await Promise.allSettled(running)
    },
  }
}

/** A transaction begins with a commit of all that the embedded database holds in its redo log. */
async function runAfterCommit<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    if (database.engine === 'sqlite') await database.transaction(async () => {})
  } catch (error) {
    throw error instanceof DatabaseError ? mapError(error) : error
  }
  return work()
}

type OnProgress = ((progress: unknown) => void) | undefined

type ThreadOptions = { readonly signal: AbortSignal; readonly onProgress: OnProgress }

/** Resolves or rejects once the thread has ended, so that its connection is closed. */
async function runThread(job: VerificationJob, { signal, onProgress }: ThreadOptions): Promise<unknown> {
  signal.throwIfAborted()
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { name: 'verification', workerData: job })
  const ended = Promise.withResolvers<void>()
  let outcome: ThreadMessage | undefined
  let failure: unknown
  worker.on('message', (message: ThreadMessage) => {
    if ('progress' in message) onProgress?.(message.progress)
    else outcome = message
  })
  worker.on('error', (error) => (failure = error))
  worker.on('exit', () => ended.resolve())
  const end = (): void => void worker.terminate()
  signal.addEventListener('abort', end, { once: true })
  await ended.promise
  signal.removeEventListener('abort', end)
  if (outcome && 'result' in outcome) return outcome.result
  signal.throwIfAborted()
  throw outcome && 'error' in outcome
    ? errorOf(outcome.error)
    : new Error('the thread of the verification has ended', { cause: failure })
}

function errorOf({ reason, message }: Extract<ThreadMessage, { error: object }>['error']): Error {
  return reason === undefined ? new Error(message) : mapError(new DatabaseError(reason, message))
}
