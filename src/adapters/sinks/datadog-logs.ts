import Type, { type Static } from 'typebox'
import { truncated, defaultSizeLimits } from '../../domain/audit/event/truncate.ts'
import { gatehouseField, type ChainedDocument } from '../../domain/audit/event/document.ts'
import type { Sink } from '../../domain/audit/export/sink.ts'
import { batchResultOf } from './response-mapping.ts'
import { compressed } from './compression.ts'
import { defineSink, type SinkParts } from './define.ts'
import { commonFields, masked, strict } from './fields.ts'
import { isOutside, timeWindow } from './timestamp-window.ts'
import { deliverEncoded, toEncodedEvent, type EncodedEvent, type BatchResult } from './encoded-events.ts'
import { patternOf, visibleAscii } from './patterns.ts'

// A fixed list instead of a free address, so that a sink cannot point to another host.
const sites = [
  'datadoghq.com',
  'us3.datadoghq.com',
  'us5.datadoghq.com',
  'datadoghq.eu',
  'ap1.datadoghq.com',
  'ap2.datadoghq.com',
  'uk1.datadoghq.com',
  'ddog-gov.com',
  'us2.ddog-gov.com',
] as const

const label = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description, examples: [example] }))

const DatadogLogsConfig = Type.Object(
  {
    site: Type.Enum([...sites], { description: 'Site of your Datadog account.', examples: ['datadoghq.eu'] }),
    api_key: Type.String({
      pattern: visibleAscii(256),
      description: `An API key, usually 32 hexadecimal digits. ${masked}`,
      examples: ['0123456789abcdef0123456789abcdef'],
    }),
    service: label('Service of the logs. Default: `gatehouse`.', 'gatehouse'),
    source: label('Source of the logs (`ddsource`). Default: `gatehouse`.', 'gatehouse'),
    hostname: label('Host of the logs. Default: the host name of the gateway.', 'gateway-1'),
    tags: Type.Optional(
      Type.Array(
        Type.String({
          pattern: patternOf('^[^:,\\s][^,]*:[^,]+$', 'must be a tag such as env:prod, without commas'),
          maxLength: 200,
        }),
        {
          maxItems: 100,
          description: 'Tags of the logs, each as `key:value`. `org` and `decision` are added to them.',
          examples: [['env:prod']],
        },
      ),
    ),
    ...commonFields,
  },
  { ...strict, title: 'DatadogSinkConfig', description: 'Datadog, through its log intake.' },
)
type DatadogLogsConfig = Static<typeof DatadogLogsConfig>

const limits = { events: 1_000, bytes: 4_000_000 }
const window = timeWindow(18, 2)

/** Datadog's log intake. It truncates logs over 1 MB and still answers 202, so events are truncated before. */
export const datadogLogs = defineSink({
  type: 'datadog_logs',
  schema: DatadogLogsConfig,
  secretFields: ['api_key'],
  destinationFields: ['site'],
  addressFields: [],
  create: createDatadogLogsSink,
})

function createDatadogLogsSink(config: DatadogLogsConfig, { request, clock, instance }: SinkParts): Sink {
  const url = new URL(`https://http-intake.logs.${config.site}/api/v2/logs`)

  const send = async (events: readonly EncodedEvent[], signal: AbortSignal): Promise<BatchResult> => {
    const text = `[${events.map((event) => event.text).join(',')}]`
    const { body, headers } = await compressed(text, 'application/json', 'gzip')
    const response = await request({
      method: 'POST',
      url,
      headers: { ...headers, 'dd-api-key': config.api_key },
      body,
      signal,
    })
    return batchResultOf('Datadog', response, clock.nowMs())
  }

  return {
    goal: { ...limits, waitMs: 5_000 },
    deliver: (batch, signal) =>
      deliverEncoded(
        batch.map((document) => toLog(document, config, { instance, nowMs: clock.nowMs() })),
        limits,
        (events) => send(events, signal),
      ),
  }
}

type Moment = { readonly instance: string; readonly nowMs: number }

/** The document at the root, together with Datadog's reserved attributes. */
function toLog(document: ChainedDocument, config: DatadogLogsConfig, { instance, nowMs }: Moment): EncodedEvent {
  const { metadata, time } = document
  const decision = gatehouseField(document, 'decision')
  const tags = [`org:${metadata.tenant_uid}`, ...(decision === undefined ? [] : [`decision:${decision}`])]
  const late = isOutside(time, nowMs, window)
  const log = {
    ...truncated(document, defaultSizeLimits),
    ddsource: config.source ?? 'gatehouse',
    ddtags: [...tags, ...(config.tags ?? [])].join(','),
    hostname: config.hostname ?? instance,
    service: config.service ?? 'gatehouse',
    status: statusOf(document.severity_id),
    event_id: metadata.uid,
    event_time: new Date(time).toISOString(),
    ...(late ? { late } : { timestamp: time }),
  }
  return toEncodedEvent(log, time)
}

function statusOf(severityId: number): 'info' | 'warn' | 'error' {
  if (severityId >= 4) return 'error'
  return severityId === 3 ? 'warn' : 'info'
}
