import type { FastifyInstance } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { InFlight } from './inference/in-flight.ts'

export type ShutdownParts = {
  readonly servers: readonly FastifyInstance[]
  readonly inFlight: InFlight
  readonly clock: Clock
}

const drainMs = 30_000
/** How long those who are told why have to read it. */
const lastWordsMs = 2_000

/** What callers hear who come while the door closes, or whose answer takes longer than that. */
export const shutdownFault = (): Fault =>
  new Fault('unavailable', 'unavailable', 'The service is shutting down.', { retryAfterSeconds: 5 })

/**
 * Answers new requests for `delayMs` more, because a load balancer needs time to notice that this node is not ready. Then
 * no new requests; what is under way may finish for a while, then its callers are told. All of it is settled in the end.
 */
export async function drain({ servers, inFlight, clock }: ShutdownParts, delayMs: number): Promise<void> {
  if (delayMs > 0) await delayOrClose({ servers, clock }, delayMs)
  const abort = clock.after(drainMs, () => inFlight.abortAll(shutdownFault()))
  // Who reads nothing, or has not even sent a request by now, is not worth waiting for.
  const hangUp = clock.after(drainMs + lastWordsMs, () => hangUpAll(servers))
  await Promise.all(servers.map((server) => server.close()))
  await inFlight.ended()
  abort()
  hangUp()
}

/** A server that is closed in the meantime is not waited for. */
const delayOrClose = ({ servers, clock }: Omit<ShutdownParts, 'inFlight'>, delayMs: number): Promise<void> =>
  new Promise((resolve) => {
    const cancel = clock.after(delayMs, resolve)
    servers[0]?.server.once('close', () => {
      cancel()
      resolve()
    })
  })

/** Hangs up on everybody; what was under way is settled all the same. */
export async function shut({ servers, inFlight }: Omit<ShutdownParts, 'clock'>): Promise<void> {
  const closed = servers.map((server) => server.close())
  hangUpAll(servers)
  await Promise.all(closed)
  await inFlight.ended()
}

function hangUpAll(servers: ShutdownParts['servers']): void {
  for (const { server } of servers) server.closeAllConnections()
}
