import Type from 'typebox'
import { createLiveFigures, type LiveFigureParts } from '../../../domain/overview/live-figures.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import { createQueryValidator } from '../../validate.ts'
import { pollMs, sendEventStream, type EventStreamParts } from '../event-stream.ts'
import { presentNow } from './route.ts'
import type { InFlight } from '../../inference/in-flight.ts'
import { OverviewTick } from './schema.ts'

type StreamParts = EventStreamParts & {
  readonly reads: Omit<LiveFigureParts, 'clock'>
  readonly inFlight: Pick<InFlight, 'count'>
}

/** `/v1/organization/overview/stream`: the figures of the overview, each second. No request pays for it. */
export function overviewStreamRoute(parts: StreamParts): Route {
  const readQuery = createQueryValidator(none)
  return {
    name: 'streamOverview',
    method: 'GET',
    path: '/v1/organization/overview/stream',
    summary: 'Stream the figures of the overview',
    description:
      'Server-sent events `tick`, one a second, each with the figures of `now` of the overview. The rate is that of the last 10 seconds. A stream ends after 10 minutes.',
    credential: 'admin_key',
    isUndescribed: true,
    permission: 'audit:read',
    query: none,
    answers: {
      200: { description: 'Events.', contentType: 'text/event-stream', schema: Type.String(), event: OverviewTick },
    },
    errorStatuses: [400, 401, 403, 422, 429, 500, 503],
    async handle(request, reply) {
      return sendEventStream(
        parts,
        { request, reply },
        {
          permission: 'audit:read',
          frames({ organization }) {
            readQuery(request.query)
            const figures = createLiveFigures({ ...parts.reads, clock: parts.clock }, organization.id)
            return {
              first: async () => `retry: ${pollMs}\n\n`,
              next: async () => `event: tick\ndata: ${JSON.stringify(presentNow(await figures(), parts.inFlight))}\n\n`,
            }
          },
        },
      )
    },
  }
}
