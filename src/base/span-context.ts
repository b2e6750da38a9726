/** Identifies a span of a trace, as services send it to one another. Ids are lower-case hexadecimal digits. */
export type SpanContext = {
  /** 32 digits. */
  readonly traceId: string
  /** 16 digits. */
  readonly spanId: string
  /** Whether the sender records its own spans of the trace. */
  readonly isSampled: boolean
  /** Values of tracing systems, which are forwarded unchanged. */
  readonly state?: string | undefined
}
