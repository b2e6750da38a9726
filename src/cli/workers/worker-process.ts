import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { BufferedStdout } from '../../base/buffered-stdout.ts'
import { closeUnacceptedConnections } from './unaccepted-connections.ts'
import { workerVariable, type FromWorker, type ToWorker, type WorkerStart } from './messages.ts'

/** A worker that runs, as the supervisor sees it. */
export type WorkerProcess = {
  /** Resolves when it serves, or when it has ended before. */
  readonly started: Promise<'ready' | 'ended'>
  /** Resolves when it has ended and its output was read to the end. */
  readonly ended: Promise<WorkerEnd>
  send(message: ToWorker): void
  /** Asks it to stop; the second time, at once. */
  stop(): void
}

export type WorkerEnd = { readonly code: number | null; readonly signal: string | null }

export type WorkerProcessParts = {
  readonly start: WorkerStart
  /** Where its lines go; undefined if it writes to the terminal of the supervisor itself. */
  readonly output: BufferedStdout | undefined
  readonly onMessage: (message: FromWorker) => void
}

/** Starts the same command again, as a worker. */
export function startWorkerProcess({ start, output, onMessage }: WorkerProcessParts): WorkerProcess {
  cluster.setupPrimary({ stdio: ['ignore', output ? 'pipe' : 'inherit', 'inherit', 'ipc'] })
  const worker = cluster.fork({ [workerVariable]: JSON.stringify(start) })
  closeUnacceptedConnections(worker)
  const ready = Promise.withResolvers<'ready'>()
  worker.on('message', (message: FromWorker) => {
    if (message.type === 'ready') ready.resolve('ready')
    onMessage(message)
  })
  // A message to a process that has just died. Its end is noticed anyway.
  worker.on('error', () => {})
  if (output && worker.process.stdout) forwardLines(worker.process.stdout, output)
  const ended = endOf(worker)
  return {
    started: Promise.race([ready.promise, ended.then(() => 'ended' as const)]),
    ended,
    send: (message) => void (worker.isConnected() && worker.send(message)),
    stop: () => void worker.process.kill('SIGTERM'),
  }
}

async function endOf(worker: Worker): Promise<WorkerEnd> {
  const [code, signal] = (await once(worker.process, 'close')) as [number | null, string | null]
  return { code, signal }
}

/** Writes whole lines only. Two workers that write to one pipe themselves would cut each other's lines. */
function forwardLines(stream: NodeJS.ReadableStream, output: BufferedStdout): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const end = chunk.lastIndexOf('\n') + 1
    if (end > 0) output.write(rest + chunk.slice(0, end))
    rest = end > 0 ? chunk.slice(end) : rest + chunk
    output.flush()
  })
  stream.on('end', () => {
    if (rest !== '') output.write(`${rest}\n`)
  })
}
