import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import { isFault } from '../../base/fault.ts'
import { holds, requirePermission, type Permission } from '../../domain/identity/permissions.ts'
import type { Administrator } from '../../domain/identity/principal.ts'
import { admitReport, admitUntilClose } from '../resources/limit.ts'
import type { AdminSurface } from './routes.ts'

export type EventStreamParts = Omit<AdminSurface, 'credential' | 'inferenceUrl'>

/** The first frame, and one for each second after it: an event, or a comment if there is none. A rejection ends the stream. */
type Frames = { readonly first: () => Promise<string>; readonly next: () => Promise<string> }

/** A stream of server-sent events for an administrator with this permission. */
export type EventStream = {
  readonly permission: Permission
  readonly frames: (actor: Administrator) => Frames
}

export const pollMs = 1_000
/** A browser connects again, and then shows a credential that is still valid. */
const longestMs = 10 * 60_000

/** Sends a frame each second until the caller leaves, its credential ends, ten minutes have passed or the server stops. */
export async function sendEventStream(
  parts: EventStreamParts,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { permission, frames }: EventStream,
): Promise<FastifyReply> {
  const actor = await parts.authenticate(request)
  requirePermission(actor.permissions, permission)
  const { first, next } = frames(actor)
  const asReport = async (read: () => Promise<string>): Promise<string> => {
    using _report = await admitReport(parts, actor, reply)
    return await read()
  }
  const source = { first: () => asReport(first), next: () => asReport(next) }
  // Not in the generator, whose `finally` never runs if the caller leaves before the first read.
  admitUntilClose(parts, actor, reply)
  const isOver = createStreamEnd(parts, request, permission)
  reply.type('text/event-stream').header('cache-control', 'no-store').header('x-accel-buffering', 'no')
  return reply.send(Readable.from(paced(source, parts.clock, isOver), { objectMode: false }))
}

async function* paced({ first, next }: Frames, clock: Clock, isOver: () => Promise<boolean>): AsyncGenerator<string> {
  const endMs = clock.monotonicMs() + longestMs
  yield await first()
  while (clock.monotonicMs() < endMs && !(await isOver())) {
    // A frame in any case: a caller who closed only its sending side may be gone, which a write finds out.
    yield await next()
    await pause(clock)
  }
}

/** Tells whether a stream must end: the server stops, or its caller may no longer read it. */
export const createStreamEnd =
  (
    parts: Pick<EventStreamParts, 'authenticate' | 'isShuttingDown'>,
    request: FastifyRequest,
    permission: Permission,
  ): (() => Promise<boolean>) =>
  async () =>
    parts.isShuttingDown() || !(await mayStillRead(parts, request, permission))

/** Authenticates again, so that a revoked key or an ended session reads nothing more. */
async function mayStillRead(
  { authenticate }: Pick<EventStreamParts, 'authenticate'>,
  request: FastifyRequest,
  permission: Permission,
): Promise<boolean> {
  if (request.record) request.record.administrator = undefined
  try {
    const { permissions } = await authenticate(request)
    return holds(permissions, permission)
  } catch (error) {
    // While storage fails, a credential is neither valid nor invalid. The next read of events then ends the stream.
    return isFault(error) && error.kind !== 'auth' && error.kind !== 'permission'
  }
}

const pause = (clock: Clock): Promise<void> => new Promise((resolve) => void clock.after(pollMs, resolve))
