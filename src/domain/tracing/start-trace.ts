import type { Random } from '../../base/random.ts'
import type { SpanContext } from '../../base/span-context.ts'
import { RequestTrace, type RequestTraceParts } from './request-trace.ts'

/** What happens to the trace context of a caller. */
export const parentModes = ['continue', 'link', 'ignore'] as const
export type ParentMode = (typeof parentModes)[number]

export type SamplingSettings = {
  readonly parent: ParentMode
  /** The share of requests without a sampling decision of their caller. */
  readonly ratio: number
  /** Whether a caller whose trace is continued decides if the request is sampled. */
  readonly followsCaller: boolean
}

/** The trace of a request that is sampled, or the caller's span if that is all that an upstream may get. */
export type StartedTrace = { readonly trace?: RequestTrace; readonly callerSpan?: SpanContext }

export type StartTrace = (caller: SpanContext | undefined, receivedMs: number | undefined) => StartedTrace

export type StartTraceParts = Omit<RequestTraceParts, 'newSpanId'> & { readonly random: Random }

const untraced: StartedTrace = {}

/** Decides for each request whether it is sampled, and in which trace. */
export function createStartTrace(settings: SamplingSettings, { random, ...parts }: StartTraceParts): StartTrace {
  const { parent, ratio, followsCaller } = settings
  const traceParts = { ...parts, newSpanId: () => newId(random, 8) }
  return (caller, receivedMs) => {
    const continued = parent === 'continue' ? caller : undefined
    const isSampled = continued && followsCaller ? continued.isSampled : random.fraction() < ratio
    if (!isSampled) return continued ? { callerSpan: continued } : untraced
    const spanId = newId(random, 8)
    const place = continued
      ? { context: { ...continued, spanId, isSampled }, parentSpanId: continued.spanId }
      : {
          context: { traceId: newId(random, 16), spanId, isSampled },
          link: parent === 'link' ? caller : undefined,
        }
    return { trace: new RequestTrace(traceParts, place, receivedMs) }
  }
}

/** For an installation that records no traces: the caller's span goes to the upstreams that may get it. */
export const passOn: StartTrace = (caller) => (caller === undefined ? untraced : { callerSpan: caller })

const newId = (random: Random, bytes: number): string => Buffer.from(random.bytes(bytes)).toString('hex')
