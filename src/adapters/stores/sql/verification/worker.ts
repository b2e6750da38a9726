import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { DatabaseError } from '../database.ts'
import { runVerification, type ThreadMessage, type VerificationJob } from './jobs.ts'
import { openSnapshotReads } from './reader.ts'

/** The thread of one verification. It ends when the verification has ended. */
if (parentPort === null) throw new Error('worker.ts must run in a worker thread')
const port = parentPort
const job: VerificationJob = workerData

const send = (message: ThreadMessage): void => port.postMessage(message)

// On Linux this is the priority of the thread, elsewhere that of the process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

try {
  await using reader = await openSnapshotReads(job.source)
  send({ result: await runVerification(reader, job, (progress) => send({ progress })) })
} catch (error) {
  const reason = error instanceof DatabaseError ? error.reason : undefined
  send({ error: { reason, message: error instanceof Error ? (error.stack ?? error.message) : String(error) } })
}
