import cluster from 'node:cluster'
import { createServer } from 'node:net'
import { closeUnacceptedConnections } from '../../../src/cli/workers/unaccepted-connections.ts'

/** A supervisor with a worker that listens, and then never accepts a connection. Prints the port and the pid of the worker. */
if (cluster.isPrimary) {
  const worker = cluster.fork()
  closeUnacceptedConnections(worker)
  worker.once('listening', ({ port }) => process.stdout.write(`${JSON.stringify({ port, pid: worker.process.pid })}\n`))
  worker.once('exit', () => setInterval(() => {}, 60_000))
} else {
  createServer().listen(0, '127.0.0.1', () =>
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)),
  )
}
