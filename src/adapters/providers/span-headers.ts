import type { SpanContext } from '../../base/span-context.ts'

/** The W3C Trace Context headers of a span. */
export const spanHeaders = (span: SpanContext | undefined): Readonly<Record<string, string>> | undefined =>
  span && {
    traceparent: `00-${span.traceId}-${span.spanId}-0${span.isSampled ? 1 : 0}`,
    ...(span.state !== undefined && { tracestate: span.state }),
  }
