import { Worker } from 'node:worker_threads'
import { DatabaseError, type Database } from '../../adapters/stores/sql/database.ts'
import { mapReportError } from '../../adapters/stores/sql/error-mapping.ts'
import { createReportSlots } from '../../adapters/stores/sql/report-slots.ts'
import { systemClock } from '../../base/clock.ts'
import type { EncodingInput, EncodingKind, EncodingResult } from './jobs.ts'
import { fromSentError, type EncodingReply, type EncodingRequest, type EncodingSource } from './protocol.ts'

/**
 * Reads and encodes long responses in one thread with database connections of its own, so that the thread that serves requests only sends
 * bytes. It starts with the first job.
 */
export type EncodingThread = AsyncDisposable & {
  run<Kind extends EncodingKind>(kind: Kind, input: EncodingInput<Kind>): Promise<EncodingResult<Kind>>
}

export type EncodingThreadParts = {
  /** Commits what is pending before a job reads. It must be closed after the thread. */
  readonly database: Database
  readonly source: EncodingSource
  /** The longest a job may run, and the longest it may wait for others. */
  readonly timeoutMs: number
}

export function createEncodingThread({ database, source, timeoutMs }: EncodingThreadParts): EncodingThread {
  const most = source.engine === 'sqlite' ? 1 : source.poolSize
  const slots = createReportSlots({ most, waitMs: timeoutMs })
  let running: RunningThread | undefined
  /** A thread that was inside a statement at its deadline. It ends after the statement. */
  let ending: Promise<void> | undefined
  let isClosed = false

  function startedThread(): RunningThread {
    if (isClosed) throw new DatabaseError('unavailable', 'the database is closed')
    if (ending !== undefined) throw new DatabaseError('timeout', 'an earlier report that took too long still runs')
    if (running !== undefined) return running
    const started = startThread(source)
    running = started
    void started.ended.then(() => running === started && (running = undefined))
    return started
  }

  function abandon(stuck: RunningThread): void {
    running = undefined
    stuck.terminate()
    ending = stuck.ended.then(() => (ending = undefined))
  }

  async function runBefore(job: Omit<EncodingRequest, 'id'>): Promise<unknown> {
    await commitPending(database)
    const thread = startedThread()
    if (source.engine === 'postgres') return await thread.call(job) // the server ends a slow statement
    const { promise: deadline, reject } = Promise.withResolvers<never>()
    const cancel = systemClock.after(timeoutMs, () => {
      abandon(thread)
      reject(new DatabaseError('timeout', `the report did not end within ${timeoutMs} ms`))
    })
    try {
      return await Promise.race([thread.call(job), deadline])
    } finally {
      cancel()
    }
  }

  return {
    async run<Kind extends EncodingKind>(kind: Kind, input: EncodingInput<Kind>) {
      try {
        return (await slots.run(() => runBefore({ kind, input }))) as EncodingResult<Kind>
      } catch (error) {
        throw error instanceof DatabaseError ? mapReportError(error) : error
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      running?.close()
      await running?.ended
      await ending
    },
  }
}

/** The thread sees only what is committed. If a commit fails, as on a full disk, it reads the state of the last one. */
async function commitPending(database: Database): Promise<void> {
  if (database.engine === 'sqlite') await database.transaction(async () => {}).catch(() => undefined)
}

type RunningThread = {
  call(job: Omit<EncodingRequest, 'id'>): Promise<unknown>
  /** Lets the thread end after its jobs. */
  close(): void
  terminate(): void
  readonly ended: Promise<void>
}

function startThread(workerData: EncodingSource): RunningThread {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { name: 'encoding', workerData })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const ended = Promise.withResolvers<void>()
  let failure: unknown
  let lastId = 0
  worker.on('message', (reply: EncodingReply) => {
    const call = waiting.get(reply.id)
    waiting.delete(reply.id)
    if ('error' in reply) call?.reject(fromSentError(reply.error))
    else call?.resolve(reply.result)
  })
  worker.on('error', (error) => (failure = error))
  worker.on('exit', () => {
    for (const { reject } of waiting.values())
      reject(new DatabaseError('unavailable', 'the thread that encodes responses has ended', failure))
    waiting.clear()
    ended.resolve()
  })
  return {
    call(job) {
      const call = Promise.withResolvers<unknown>()
      const id = ++lastId
      waiting.set(id, call)
      worker.postMessage({ id, ...job } satisfies EncodingRequest)
      return call.promise
    },
    close: () => worker.postMessage('close'),
    terminate: () => void worker.terminate(),
    ended: ended.promise,
  }
}
