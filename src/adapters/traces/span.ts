import type { SpanContext } from '../../base/span-context.ts'
import { toKeyValues } from '../otlp-values.ts'

export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** A span that has ended. */
export type TraceSpan = {
  readonly context: SpanContext
  readonly parentSpanId?: string | undefined
  readonly hasRemoteParent?: boolean
  readonly link?: SpanContext | undefined
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client'
  /** Microseconds since 1970. */
  readonly startUs: number
  readonly endUs: number
  readonly attributes: SpanAttributes
  /** Attributes that are doubles even if their value is a whole number. */
  readonly doubles?: Readonly<Record<string, number>> | undefined
  readonly isError?: boolean
}

const kinds: Readonly<Record<TraceSpan['kind'], number>> = { internal: 1, server: 2, client: 3 }
const errorStatus = { code: 2 }

/** The span as a JSON text of OTLP. */
export function encodeSpan(span: TraceSpan): string {
  const { context, link, doubles = {} } = span
  return JSON.stringify({
    traceId: context.traceId,
    spanId: context.spanId,
    parentSpanId: span.parentSpanId,
    traceState: context.state,
    flags: flagsOf(span.hasRemoteParent === true),
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: nanoseconds(span.startUs),
    endTimeUnixNano: nanoseconds(Math.max(span.startUs, span.endUs)),
    attributes: [
      ...toKeyValues(span.attributes),
      ...Object.entries(doubles).map(([key, doubleValue]) => ({ key, value: { doubleValue } })),
    ],
    links: link && [{ traceId: link.traceId, spanId: link.spanId, traceState: link.state }],
    status: span.isError === true ? errorStatus : undefined,
  })
}

/** Sampled (1), "the next bit is set" (256), and whether the parent is in another process (512). */
const flagsOf = (hasRemoteParent: boolean): number => 1 + 256 + (hasRemoteParent ? 512 : 0)

/** Unix microseconds fit into a number exactly, nanoseconds do not. */
const nanoseconds = (us: number): string => `${Math.round(us)}000`
