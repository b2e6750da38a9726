import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { AuditReads } from '../../../domain/audit/log.ts'
import { integer } from '../../described.ts'
import type { Route } from '../../route.ts'
import { createQueryValidator } from '../../validate.ts'
import { pollMs, sendEventStream, type EventStreamParts } from '../event-stream.ts'
import type { ReadFilter } from './filter.ts'
import { RequestFilterFields } from './filter-schema.ts'
import { presentRequest } from './present.ts'
import { RequestObject } from './schema.ts'

const StreamQuery = Type.Object(
  {
    ...RequestFilterFields,
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'The sequence to continue after, for clients that cannot send `Last-Event-ID`.',
      }),
    ),
  },
  { additionalProperties: false },
)

const StreamEvent = Type.Object(
  {
    count: integer('How many requests match since the last event.'),
    sequence: integer('The last event of the audit log that was read. It is also the `id` of this event.'),
    data: Type.Array(RequestObject, { description: 'The newest of them, at most 20.' }),
  },
  { title: 'NewRequests' },
)

const maxRows = 20

type StreamParts = EventStreamParts & {
  readonly reads: { readonly events: Pick<AuditReads, 'newRequests'> }
  readonly readFilter: ReadFilter
}

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
      return sendEventStream(
        parts,
        { request, reply },
        {
          permission: 'audit:read',
          frames({ organization: { id } }) {
            const { after, ...filters } = readQuery(request.query)
            const { events } = parts.reads
            const queryAfter = async (last: number | undefined) => ({
              filter: await parts.readFilter(id, filters),
              limit: maxRows,
              after: last,
            })
            let sequence = lastEventId(request) ?? after
            return {
              async first() {
                sequence ??= (await events.newRequests(id, await queryAfter(undefined))).sequence
                return `retry: ${pollMs}\nid: ${sequence}\n\n`
              },
              async next() {
                const fresh = await events.newRequests(id, await queryAfter(sequence))
                sequence = Math.max(sequence ?? 0, fresh.sequence)
                return fresh.count > 0 ? frameOf(fresh) : ':\n\n'
              },
            }
          },
        },
      )
    },
  }
}

type NewRequests = Awaited<ReturnType<AuditReads['newRequests']>>

function frameOf({ count, sequence, items }: NewRequests): string {
  const event: Static<typeof StreamEvent> = { count, sequence, data: items.map(presentRequest) }
  return `event: requests\nid: ${sequence}\ndata: ${JSON.stringify(event)}\n\n`
}

function lastEventId({ headers }: FastifyRequest): number | undefined {
  const id = Number(headers['last-event-id'])
  return Number.isSafeInteger(id) && id >= 0 && headers['last-event-id'] !== '' ? id : undefined
}
