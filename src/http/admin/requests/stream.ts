import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Clock } from '../../../base/clock.ts'
import { isFault } from '../../../base/fault.ts'
import type { AuditReads, RequestFilter } from '../../../domain/audit/log.ts'
import { holds, requirePermission } from '../../../domain/identity/permissions.ts'
import { integer } from '../../described.ts'
import { admitRequest } from '../../resources/limit.ts'
import type { Route } from '../../route.ts'
import { createQueryValidator } from '../../validate.ts'
import type { AdminParts } from '../parts.ts'
import { requestFilterOf } from './filter.ts'
import { presentRequest } from './present.ts'
import { RequestFilterFields, RequestObject } from './schema.ts'

const StreamQuery = Type.Object(RequestFilterFields, { additionalProperties: false })

const StreamEvent = Type.Object(
  {
    count: integer('How many requests match since the last event.'),
    sequence: integer('The last event of the audit log that was read. It is also the `id` of this event.'),
    data: Type.Array(RequestObject, { description: 'The newest of them, at most 20.' }),
  },
  { title: 'NewRequests' },
)

const pollMs = 1_000
/** A browser connects again, and then shows a credential that is still valid. */
const longestMs = 10 * 60_000
const maxRows = 20

type StreamParts = Pick<AdminParts, 'callerOf' | 'reads' | 'limits' | 'clock' | 'isShuttingDown'>

/** `/v1/organization/requests/stream`: tells when there are new requests. It reads the audit log, so no request pays for it. */
export function requestStreamRoute(parts: StreamParts): Route {
  const readQuery = createQueryValidator(StreamQuery)
  return {
    name: 'streamRequests',
    method: 'GET',
    path: '/v1/organization/requests/stream',
    summary: 'Stream new requests',
    description:
      'Server-sent events, at most one a second, each with the number of new requests that match and the newest of them. Send the last `id` as `Last-Event-ID` to continue without a gap. A stream ends after 10 minutes.',
    credential: 'admin_key',
    isUndescribed: true,
    permission: 'audit:read',
    query: StreamQuery,
    answers: {
      200: { description: 'Events.', contentType: 'text/event-stream', schema: Type.String(), event: StreamEvent },
    },
    errorStatuses: [400, 401, 403, 422, 429, 500, 503],
    async handle(request, reply) {
      const actor = await parts.callerOf.administrator(request)
      requirePermission(actor.permissions, 'audit:read')
      const filter = requestFilterOf(readQuery(request.query))
      const slot = admitRequest(parts, actor)
      // Not in the generator, whose `finally` never runs if the caller leaves before the first read.
      reply.raw.once('close', () => slot[Symbol.dispose]())
      const { events } = parts.reads
      const source = { events, organizationId: actor.organization.id, filter, after: lastEventId(request) }
      const isOver = async (): Promise<boolean> => parts.isShuttingDown() || !(await mayStillRead(parts, request))
      reply.type('text/event-stream').header('cache-control', 'no-store').header('x-accel-buffering', 'no')
      return reply.send(Readable.from(frames(source, parts.clock, isOver), { objectMode: false }))
    },
  }
}

/** Authenticates again, so that a revoked key or an ended session reads nothing more. */
async function mayStillRead({ callerOf }: Pick<StreamParts, 'callerOf'>, request: FastifyRequest): Promise<boolean> {
  if (request.record) request.record.administrator = undefined
  try {
    const { permissions } = await callerOf.administrator(request)
    return holds(permissions, 'audit:read')
  } catch (error) {
    // While storage fails, a credential is neither valid nor invalid. The next read of events then ends the stream.
    return isFault(error) && error.kind !== 'auth' && error.kind !== 'permission'
  }
}

type Source = {
  readonly events: Pick<AuditReads, 'newRequests'>
  readonly organizationId: string
  readonly filter: RequestFilter
  readonly after: number | undefined
}

async function* frames(
  { events, organizationId, filter, after }: Source,
  clock: Clock,
  isOver: () => Promise<boolean>,
): AsyncGenerator<string> {
  const endMs = clock.monotonicMs() + longestMs
  let sequence = after ?? (await events.newRequests(organizationId, { filter, after, limit: 0 })).sequence
  yield `retry: ${pollMs}\nid: ${sequence}\n\n`
  while (clock.monotonicMs() < endMs && !(await isOver())) {
    const fresh = await events.newRequests(organizationId, { filter, after: sequence, limit: maxRows })
    // A line in any case: a caller who closed only its sending side may be gone, which a write finds out.
    yield fresh.count > 0 ? frameOf(fresh) : ':\n\n'
    sequence = Math.max(sequence, fresh.sequence)
    await pause(clock)
  }
}

type NewRequests = Awaited<ReturnType<AuditReads['newRequests']>>

function frameOf({ count, sequence, items }: NewRequests): string {
  const event: Static<typeof StreamEvent> = { count, sequence, data: items.map(presentRequest) }
  return `event: requests\nid: ${sequence}\ndata: ${JSON.stringify(event)}\n\n`
}

const pause = (clock: Clock): Promise<void> => new Promise((resolve) => void clock.after(pollMs, resolve))

function lastEventId({ headers }: FastifyRequest): number | undefined {
  const id = Number(headers['last-event-id'])
  return Number.isSafeInteger(id) && id >= 0 && headers['last-event-id'] !== '' ? id : undefined
}
