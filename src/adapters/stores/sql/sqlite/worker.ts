import { systemClock } from '../../../../base/clock.ts'
import { parentPort, workerData } from 'node:worker_threads'
import type { WorkerReply, WorkerRequest, WorkerOptions } from './protocol.ts'
import { createEngine } from './engine.ts'

/**
 * The thread that owns the database file. One message carries all requests of one turn of the main thread's event loop, and one
 * message their replies, because waking a thread costs more than most statements.
 */
if (parentPort === null) throw new Error('sqlite-worker.ts must run in a worker thread')
const port = parentPort
const options: WorkerOptions = workerData
const engine = createEngine(options)

let isFlushScheduled = false

port.on('message', (requests: readonly WorkerRequest[]) => {
  // Reads first, because they are short and a commit waits for the disk.
  answer(requests.filter(({ kind }) => kind === 'read'))
  answer(requests.filter(({ kind }) => kind !== 'read'))
  if (engine.isFlushDue()) flush()
  else scheduleFlush()
})

function scheduleFlush(): void {
  if (isFlushScheduled || !engine.isPending()) return
  isFlushScheduled = true
  systemClock.after(options.flushAfterMs, () => {
    isFlushScheduled = false
    flush()
  })
}

function flush(): void {
  try {
    engine.flush()
  } catch {
    // The groups stay pending and durable. A full disk or a locked file also fails the next write, which reports it.
    scheduleFlush()
  }
}

function answer(requests: readonly WorkerRequest[]): void {
  if (requests.length === 0) return
  const replies = requests.map(({ id, kind, steps }): WorkerReply => ({ id, outcomes: engine.handle(kind, steps) }))
  port.postMessage(replies satisfies readonly WorkerReply[])
  if (requests.some(({ kind }) => kind === 'close')) port.close()
}
