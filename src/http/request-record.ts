import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import type { MaybePromise } from '../base/maybe-promise.ts'
import { isUpstreamFault, type Fault } from '../base/fault.ts'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { OnKeyDenied } from '../domain/identity/key-denial.ts'
import type { Administrator, Principal } from '../domain/identity/principal.ts'
import { callerSpanOf } from './inference/reading/trace-context.ts'
import type { ReserveBodyMemory } from './body-memory-budget.ts'

/** State of a request. Its end writes one log line and one measurement from it. */
export type RequestRecord = {
  readonly startMs: number
  fault: Fault | undefined
  /** The authenticated caller, undefined before authentication. */
  actor: Administrator | Principal | undefined
  /** Cached results of authentication. */
  principal: MaybePromise<Principal> | undefined
  administrator: MaybePromise<Administrator> | undefined
  /** Counts the bytes of a large body. */
  reserveBodyMemory: ReserveBodyMemory | undefined
  /** The trace that the service exports the request in; undefined if it is not sampled. */
  traceId: string | undefined
  /** False if the request was rejected before its handler ran. */
  handlerStarted: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined if Fastify rejected the request before any hook ran. */
    record: RequestRecord | undefined
  }
}

export type RequestRecorder = {
  began(request: FastifyRequest): void
  ended(request: FastifyRequest, status: number): void
}

export type RecorderParts = {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** Called for a caller that lacks a permission. Not on the control socket: the operator lacks none. */
  readonly onDenied?: OnKeyDenied
}

const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const
const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** Declares the property, so that all request objects keep one shape. */
export function declareRecord(app: FastifyInstance): void {
  app.decorateRequest('record')
}

export function createRequestRecorder({ clock, log, metrics, onDenied }: RecorderParts): RequestRecorder {
  const labels = { route: 'closed-by-caller', status: statusClasses } as const // a route is a pattern, never a path
  const seconds = metrics.histogram(
    'gatehouse_http_request_seconds',
    'Time from the first byte of a request to the last of its answer.',
    {
      labels,
      buckets: secondsBuckets,
    },
  )

  const known = new Map<string, (value: number) => void>()
  const seriesOf = (route: string, statusClass: number): ((value: number) => void) => {
    const key = route + statusClass
    const series = known.get(key) ?? seconds.series({ route, status: `${statusClass}xx` })
    known.set(key, series)
    return series
  }

  return {
    began(request) {
      request.record = {
        startMs: clock.monotonicMs(),
        fault: undefined,
        actor: undefined,
        principal: undefined,
        administrator: undefined,
        reserveBodyMemory: undefined,
        traceId: undefined,
        handlerStarted: false,
      }
    },
    ended(request, status) {
      const { record } = request
      const durationMs = record ? clock.monotonicMs() - record.startMs : 0
      const route = request.routeOptions.url ?? 'none'
      seriesOf(route, Math.floor(status / 100))(durationMs / 1000)
      if (record?.actor && record.fault?.code === 'permission_denied')
        onDenied?.(record.actor, { address: request.ip, reason: 'permission_denied' })
      const line = {
        request_id: request.id,
        method: request.method,
        route,
        status,
        duration_ms: Math.round(durationMs * 10) / 10,
        organization_id: record?.actor?.organization.id,
        credential_id: record?.actor?.id,
        code: record?.fault?.code,
        trace_id: record?.traceId ?? callerSpanOf(request.headers)?.traceId,
      }
      if (record?.fault && (status >= 500 || isUpstreamFault(record.fault))) {
        log.error({ ...line, error: causes(record.fault) }, record.fault.message)
      } else {
        log.access(line)
      }
    },
  }
}

/** Also called after a response has begun, when it is too late for a status. */
export function recordError({ record }: FastifyRequest, fault: Fault): void {
  if (record) record.fault = fault
}

/** The causes of a fault for the log, with the stacks of unexpected errors. Callers never see them. */
function causes(fault: Fault): string[] {
  const lines: string[] = []
  let cause: unknown = fault.cause
  while (cause !== undefined && lines.length < 5) {
    lines.push(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause))
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return lines
}
