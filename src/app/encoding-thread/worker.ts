import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openSnapshotReads } from '../../adapters/stores/sql/verification/reader.ts'
import { runEncoding, type EncodingReads } from './jobs.ts'
import { toSentError, type EncodingReply, type EncodingRequest, type EncodingSource } from './protocol.ts'

/** The thread that reads and encodes long responses. It ends when its port is closed. */
if (parentPort === null) throw new Error('worker.ts must run in a worker thread')
const port = parentPort
const source: EncodingSource = workerData

// On Linux this is the priority of the thread, elsewhere that of the process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

const reads = await openReads()

port.on('message', (message: EncodingRequest | 'close') => void (message === 'close' ? close() : answer(message)))

async function close(): Promise<void> {
  await reads[Symbol.asyncDispose]()
  port.close()
}

async function answer({ id, kind, input }: EncodingRequest): Promise<void> {
  const send = (reply: EncodingReply): void => port.postMessage(reply)
  try {
    send({ id, result: await runEncoding(reads, kind, input as never) })
  } catch (error) {
    send({ id, error: toSentError(error) })
  }
}

async function openReads(): Promise<EncodingReads & AsyncDisposable> {
  const { engine } = source
  if (engine === 'sqlite') return { engine, ...(await openSnapshotReads(source)) }
  const { openReportReads } = await import('../../adapters/stores/sql/postgres/postgres.ts')
  const { url, poolSize, timeoutMs } = source
  return { engine, ...openReportReads({ url, poolSize, statementTimeoutMs: timeoutMs }) }
}
