import Type, { type Static } from 'typebox'
import { truncated, defaultSizeLimits } from '../../domain/audit/event/truncate.ts'
import { gatehouseField, type ChainedDocument } from '../../domain/audit/event/document.ts'
import type { Sink } from '../../domain/audit/export/sink.ts'
import type { ReceivedResponse } from '../network/request.ts'
import { isRecord } from '../../base/record.ts'
import { toAnyValue, toKeyValues } from '../otlp-values.ts'
import { jsonOf, batchResultOf } from './response-mapping.ts'
import { compressed } from './compression.ts'
import { defineSink, type SinkParts } from './define.ts'
import { caField, caProblems, commonFields, compressionField, masked, strict, urlField } from './fields.ts'
import { deliverEncoded, toEncodedEvent, type EncodedEvent, type BatchResult } from './encoded-events.ts'
import { patternOf } from './patterns.ts'

const OtlpLogsConfig = Type.Object(
  {
    url: urlField(
      'Address of a collector; `/v1/logs` is appended unless the path ends in it.',
      'https://collector.example.com:4318',
    ),
    auth: Type.Optional(
      Type.Object(
        {
          header: Type.String({
            pattern: patternOf(
              '^[A-Za-z][A-Za-z0-9-]{0,99}$',
              'must be the name of a header: letters, digits and hyphens',
            ),
            description: 'Name of the header.',
            examples: ['authorization'],
          }),
          value: Type.String({
            pattern: patternOf('^[\\x20-\\x7e]{1,1000}$', 'must have at most 1,000 ASCII characters'),
            description: `Value of the header. ${masked}`,
            examples: ['Bearer example'],
          }),
        },
        { ...strict, description: 'Header that authenticates the gateway. Default: none.' },
      ),
    ),
    compression: Type.Optional(compressionField),
    tls_ca_pem: Type.Optional(caField),
    ...commonFields,
  },
  { ...strict, title: 'OtlpSinkConfig', description: 'Any OpenTelemetry collector, through OTLP over HTTP.' },
)
type OtlpLogsConfig = Static<typeof OtlpLogsConfig>

const limits = { events: 1_000, bytes: 2_000_000 }

/** Any OpenTelemetry collector, with OTLP over HTTP in JSON. */
export const otlpLogs = defineSink({
  type: 'otlp_logs',
  schema: OtlpLogsConfig,
  secretFields: ['auth.value'],
  destinationFields: ['url', 'auth.header'],
  addressFields: [{ path: 'url', allowPath: true }],
  check: (config) => caProblems(config.tls_ca_pem),
  create: createOtlpLogsSink,
})

function createOtlpLogsSink(config: OtlpLogsConfig, { request, clock, instance }: SinkParts): Sink {
  const url = new URL(`${config.url.replace(/(\/v1\/logs)?\/*$/, '')}/v1/logs`)
  const auth = config.auth && { [config.auth.header.toLowerCase()]: config.auth.value }

  const send = async (events: readonly EncodedEvent[], signal: AbortSignal): Promise<BatchResult> => {
    const text = requestText(events, instance)
    const { body, headers } = await compressed(text, 'application/json', config.compression ?? 'gzip')
    const response = await request({ method: 'POST', url, headers: { ...headers, ...auth }, body, signal })
    return mapExportResponse(response, clock.nowMs())
  }

  return {
    goal: { ...limits, waitMs: 1_000 },
    deliver: (batch, signal) =>
      deliverEncoded(
        batch.map((document) => toRecord(document, clock.nowMs())),
        limits,
        (events) => send(events, signal),
      ),
  }
}

/**
 * A collector may accept some records and report how many it rejected, but not which. OTLP requires that the rejected ones are dropped, but
 * an audit log must not lose events, so the halves are sent again; records that were accepted before arrive twice, with the same id.
 */
function mapExportResponse(response: ReceivedResponse, nowMs: number): BatchResult {
  const { partialSuccess } = jsonOf(response)
  const rejectedRecords = isRecord(partialSuccess) ? Number(partialSuccess.rejectedLogRecords ?? 0) : 0
  if (response.status === 200 && rejectedRecords > 0)
    return { kind: 'split', reason: 'The collector rejected the event.' }
  return batchResultOf('The collector', response, nowMs)
}

function requestText(events: readonly EncodedEvent[], instance: string): string {
  const attributes = toKeyValues({ 'service.name': 'gatehouse', 'service.instance.id': instance })
  const [resource, scope] = [JSON.stringify({ attributes }), JSON.stringify({ name: 'gatehouse.audit' })]
  const records = events.map(({ text }) => text).join(',')
  return `{"resourceLogs":[{"resource":${resource},"scopeLogs":[{"scope":${scope},"logRecords":[${records}]}]}]}`
}

const severityNumbers: Readonly<Record<number, number>> = { 1: 9, 2: 10, 3: 13, 4: 17, 5: 21 }

function toRecord(document: ChainedDocument, nowMs: number): EncodedEvent {
  const { metadata, time } = document
  const attributes = {
    'event.id': metadata.uid,
    'organization.id': metadata.tenant_uid,
    'gatehouse.decision': gatehouseField(document, 'decision'),
  }
  const record = {
    timeUnixNano: `${time}000000`,
    observedTimeUnixNano: `${nowMs}000000`,
    severityNumber: severityNumbers[document.severity_id] ?? 9,
    eventName: `gatehouse.${metadata.event_code}`,
    body: toAnyValue(truncated(document, defaultSizeLimits)),
    attributes: toKeyValues(attributes),
  }
  return toEncodedEvent(record, time)
}
