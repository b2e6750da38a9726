import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import type { MaybePromise } from '../base/maybe-promise.ts'
import { isUpstreamFault, type Fault } from '../base/fault.ts'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Administrator, Principal } from '../domain/identity/principal.ts'
import type { ReserveBodyMemory } from './body-memory-budget.ts'

/** What is known about a request so far; one log line and one measurement are made of it at the end. */
export type RequestRecord = {
  readonly startMs: number
  fault: Fault | undefined
  /** Who sent it, as far as is known. */
  actor: Administrator | Principal | undefined
  /** The same, as it was asked for. */
  principal: MaybePromise<Principal> | undefined
  administrator: MaybePromise<Administrator> | undefined
  /** Of a large body: counts what is read of it. */
  takeRoom: ReserveBodyMemory | undefined
  /** Whether its handler was called, or something before it refused. */
  handlerStarted: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** None where the framework itself refused, before anything of ours ran. */
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
}

const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const
const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** Announces the record to the framework, which then makes room for it on every request. */
export function reserveRecord(app: FastifyInstance): void {
  app.decorateRequest('record')
}

export function createRequestRecorder({ clock, log, metrics }: RecorderParts): RequestRecorder {
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
    const found = known.get(key) ?? seconds.series({ route, status: `${statusClass}xx` })
    known.set(key, found)
    return found
  }

  return {
    began(request) {
      request.record = {
        startMs: clock.monotonicMs(),
        fault: undefined,
        actor: undefined,
        principal: undefined,
        administrator: undefined,
        takeRoom: undefined,
        handlerStarted: false,
      }
    },
    ended(request, status) {
      const { record } = request
      const durationMs = record ? clock.monotonicMs() - record.startMs : 0
      const route = request.routeOptions.url ?? 'none'
      seriesOf(route, Math.floor(status / 100))(durationMs / 1000)
      const line = {
        request_id: request.id,
        method: request.method,
        route,
        status,
        duration_ms: Math.round(durationMs * 10) / 10,
        organization_id: record?.actor?.organization.id,
        credential_id: record?.actor?.id,
        code: record?.fault?.code,
      }
      if (record?.fault && (status >= 500 || isUpstreamFault(record.fault))) {
        log.error({ ...line, error: causes(record.fault) }, record.fault.message)
      } else {
        log.access(line)
      }
    },
  }
}

/** Also said after an answer has begun, when it is too late for a status. */
export function recordError({ record }: FastifyRequest, fault: Fault): void {
  if (record) record.fault = fault
}

/** The private side of a Fault: why, down to the first cause, with the stack of what we did not foresee. */
function causes(fault: Fault): string[] {
  const lines: string[] = []
  let cause: unknown = fault.cause
  while (cause !== undefined && lines.length < 5) {
    lines.push(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause))
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return lines
}
