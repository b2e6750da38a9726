import { createAdministrationLimits } from '../../../domain/identity/administration-limits.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import { findSink } from '../../../domain/audit/export/mutations.ts'
import { sendsOf, type DeliveryOutcome } from '../../../domain/audit/export/sink.ts'
import { none } from '../../resources/fields.ts'
import { admitRequest } from '../../resources/limit.ts'
import { actorOf } from '../../resources/route.ts'
import type { Route } from '../../route.ts'
import { createQueryValidator, createValidator } from '../../validate.ts'
import type { GatewaySurface } from '../routes.ts'
import { sinkAt, exportPath } from './routes.ts'
import * as Schema from './schema.ts'
import type { ExportStore } from '../../../domain/audit/export/export-sink.ts'
import type { SinkTest } from '../../../pipeline/export/test-sink.ts'

/** Low, so that the endpoint cannot be used to scan a network. */
const testsPerMinute = { requestsPerMinute: 6, concurrentRequests: 2 }

type ExportTestParts = Pick<GatewaySurface, 'authenticate' | 'limits' | 'clock'> & {
  readonly exports: ExportStore
  readonly testSink: SinkTest
}

/** Sends one event and returns the response of the destination. Changes nothing, so it needs no Idempotency-Key. */
export function exportTestRoute(parts: ExportTestParts): Route {
  const { authenticate, clock, exports, testSink } = parts
  const limits = createAdministrationLimits(clock, { credential: testsPerMinute, organization: testsPerMinute })
  const readParams = createQueryValidator(Schema.ExportParams)
  const readNothing = createValidator(none)
  return {
    name: 'testExportSink',
    method: 'POST',
    path: `${exportPath}/test`,
    summary: 'Test an export sink',
    description:
      'Sends one event that is marked as a test, also to a disabled sink. A sink that sends costs gets a file of one row, out of the folder of the costs. At most six times per minute.',
    credential: 'gateway',
    permission: 'exports:write',
    params: Schema.ExportParams,
    answers: { 200: { description: 'The result of the delivery.', schema: Schema.TestAnswer } },
    errorStatuses: [400, 401, 403, 404, 413, 422, 429, 500, 503],
    async handle(request) {
      const actor = await authenticate(request)
      using _slot = admitRequest(parts, actor)
      requirePermission(actor.permissions, 'exports:write')
      readNothing(request.body ?? {})
      const sink = await findSink(exports, sinkAt({ actor, params: readParams(request.params) }))
      using _test = admitRequest({ limits, clock }, actor)
      const { outcome, eventId } = await testSink(sink, actorOf(request, actor))
      const sent = sendsOf(sink.config) === 'costs' ? 'file' : 'event'
      return { test: { ...presentOutcome(outcome, sent), event_id: eventId } }
    },
  }
}

const presentOutcome = (outcome: DeliveryOutcome, sent: 'event' | 'file') => ({
  success: outcome.kind === 'delivered',
  outcome: outcome.kind,
  message: outcome.kind === 'delivered' ? `The destination accepted the ${sent}.` : outcome.reason,
})
