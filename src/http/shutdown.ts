import type { FastifyInstance } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { InFlight } from './inference/in-flight.ts'

export type ShutdownParts = {
  readonly servers: readonly FastifyInstance[]
  readonly inFlight: InFlight
  readonly clock: Clock
}

const drainTimeoutMs = 30_000
/** Time for callers to read the error after their response was aborted. */
const errorReadMs = 2_000

/** The error for requests during the shutdown, and for responses that take longer than it. */
export const shutdownFault = (): Fault =>
  new Fault('unavailable', 'unavailable', 'The service is shutting down.', { retryAfterSeconds: 5 })

/**
 * Accepts new requests for `delayMs` more, because a load balancer needs time to notice that this node is not ready. Then
 * rejects new requests. Requests in flight may finish for 30 seconds and are then aborted. All of them are settled.
 */
export async function drain({ servers, inFlight, clock }: ShutdownParts, delayMs: number): Promise<void> {
  if (delayMs > 0) await delayOrClose({ servers, clock }, delayMs)
  const abort = clock.after(drainTimeoutMs, () => inFlight.abortAll(shutdownFault()))
  // Callers that do not read, or have not sent a request by now, are disconnected.
  const disconnect = clock.after(drainTimeoutMs + errorReadMs, () => disconnectAll(servers))
  await Promise.all(servers.map((server) => server.close()))
  await inFlight.ended()
  abort()
  disconnect()
}

/** Resolves early if the server closes. */
const delayOrClose = ({ servers, clock }: Omit<ShutdownParts, 'inFlight'>, delayMs: number): Promise<void> =>
  new Promise((resolve) => {
    const cancel = clock.after(delayMs, resolve)
    servers[0]?.server.once('close', () => {
      cancel()
      resolve()
    })
  })

/** Disconnects all callers at once. Requests in flight are still settled. */
export async function closeNow({ servers, inFlight }: Omit<ShutdownParts, 'clock'>): Promise<void> {
  const closed = servers.map((server) => server.close())
  disconnectAll(servers)
  await Promise.all(closed)
  await inFlight.ended()
}

function disconnectAll(servers: ShutdownParts['servers']): void {
  for (const { server } of servers) server.closeAllConnections()
}
