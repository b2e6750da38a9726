import { parentPort, workerData } from 'node:worker_threads'
import { openReader } from './engine.ts'
import { runAll, toFailure } from './group.ts'
import type { ReaderOptions, StatementList, StepOutcome, WorkerReply, WorkerRequest } from './protocol.ts'

/** The thread of reports. It has a connection that can only read, so a report of seconds delays no other statement. */
if (parentPort === null) throw new Error('report-worker.ts must run in a worker thread')
const port = parentPort
const options: ReaderOptions = workerData
const reader = openReader(options)

port.on('message', (requests: readonly WorkerRequest[]) => {
  for (const { id, kind, steps } of requests) {
    port.postMessage([{ id, outcomes: steps.map(run) }] satisfies readonly WorkerReply[])
    if (kind !== 'close') continue
    reader.close()
    port.close()
  }
})

function run(step: StatementList): StepOutcome {
  try {
    return { results: runAll(reader, step) }
  } catch (error) {
    return { failure: toFailure(error) }
  }
}
