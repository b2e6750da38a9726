import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { startReceiver, type Handler, type Received } from './receiver.ts'

/** A span as a collector receives it, with its attributes as plain values. */
export type ReceivedSpan = {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly kind: number
  readonly startNs: bigint
  readonly endNs: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly isError: boolean
}

/** A collector in this process that accepts every export, unless `handle` answers otherwise. */
export async function startOtlpReceiver(t: TestContext, handle: Handler = () => ({ status: 200, body: {} })) {
  const { origin, requests } = await startReceiver(t, handle)
  return { origin, requests, spans: () => requests.flatMap(spansIn) }
}

export function spanNamed(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.find((span) => span.name === name)
  assert.ok(found, `There is no span ${name}, only ${spans.map((span) => span.name).join(', ')}.`)
  return found
}

type Json = Record<string, unknown>
type KeyValue = { key: string; value: Json }

/** The exports of a request, as OTLP defines them in JSON. */
export function spansIn({ text }: Pick<Received, 'text'>): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(text) as {
    resourceSpans: { scopeSpans: { spans: (Json & { attributes: KeyValue[] })[] }[] }[]
  }
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map((span) => ({
      name: String(span['name']),
      traceId: String(span['traceId']),
      spanId: String(span['spanId']),
      parentSpanId: span['parentSpanId'] as string | undefined,
      kind: Number(span['kind']),
      startNs: BigInt(String(span['startTimeUnixNano'])),
      endNs: BigInt(String(span['endTimeUnixNano'])),
      attributes: Object.fromEntries(span.attributes.map(({ key, value }) => [key, plain(value)])),
      links: (span['links'] ?? []) as ReceivedSpan['links'],
      isError: (span['status'] as { code?: number } | undefined)?.code === 2,
    }))
}

function plain(value: Json): unknown {
  if ('intValue' in value) return Number(value['intValue'])
  if ('arrayValue' in value) return (value['arrayValue'] as { values: Json[] }).values.map(plain)
  return Object.values(value)[0]
}
