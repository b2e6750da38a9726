import Type, { type Static } from 'typebox'
import { truncated } from '../../domain/audit/event/truncate.ts'
import { gatehouseField, type ChainedDocument } from '../../domain/audit/event/document.ts'
import type { ConfigProblem, Sink } from '../../domain/audit/export/sink.ts'
import type { ReceivedResponse } from '../network/request.ts'
import { isRecord } from '../../base/record.ts'
import { codeOf, jsonOf, batchResultOf, pauseFor } from './response-mapping.ts'
import { createTokenSource, type Cloud } from './azure-token.ts'
import { compressed } from './compression.ts'
import { defineSink, type SinkParts } from './define.ts'
import { commonFields, masked, strict, urlField } from './fields.ts'
import { isOutside, timeWindow } from './timestamp-window.ts'
import { deliverEncoded, toEncodedEvent, type EncodedEvent, type BatchResult } from './encoded-events.ts'
import { patternOf } from './patterns.ts'

const uuid = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'

const AzureMonitorConfig = Type.Object(
  {
    endpoint: urlField(
      'Logs ingestion endpoint of the data collection rule or data collection endpoint, without a path.',
      'https://audit-x1y2.westeurope-1.ingest.monitor.azure.com',
    ),
    dcr_immutable_id: Type.String({
      pattern: patternOf('^dcr-[0-9a-f]{32}$', 'must be dcr- and 32 hexadecimal digits'),
      description: 'Immutable id of the data collection rule.',
      examples: ['dcr-0123456789abcdef0123456789abcdef'],
    }),
    stream_name: Type.String({
      pattern: patternOf('^(Custom|Microsoft)-[\\w-]{1,200}$', 'must begin with Custom- or Microsoft-'),
      description: 'Stream as the data collection rule declares it (`Custom-…`), not the name of the table (`…_CL`).',
      examples: ['Custom-Gatehouse'],
    }),
    tenant_id: Type.String({
      pattern: patternOf(
        `^(${uuid}|[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+)$`,
        'must be the UUID of the directory, or one of its domains',
      ),
      maxLength: 200,
      description: 'Directory of the application in Microsoft Entra: its id or a domain.',
      examples: ['11111111-2222-3333-4444-555555555555'],
    }),
    client_id: Type.String({
      pattern: patternOf(`^${uuid}$`, 'must be a UUID'),
      description: 'Client id of the application. It needs the role Monitoring Metrics Publisher on the rule.',
      examples: ['11111111-2222-3333-4444-555555555555'],
    }),
    client_secret: Type.String({
      minLength: 1,
      maxLength: 500,
      description: `Value of a client secret of the application, not the id of the secret. ${masked}`,
      examples: ['example'],
    }),
    cloud: Type.Optional(
      Type.Enum(['public', 'usgov', 'china'], {
        default: 'public',
        description: 'Azure cloud. It must match the host of `endpoint`.',
      }),
    ),
    ...commonFields,
  },
  {
    ...strict,
    title: 'AzureMonitorSinkConfig',
    description: 'Azure Monitor and Microsoft Sentinel, through the Logs Ingestion API.',
  },
)
type AzureMonitorConfig = Static<typeof AzureMonitorConfig>

// Authority, scope and host suffix belong together. The suffixes are fixed, so that a sink cannot point to another host.
const clouds: Readonly<Record<'public' | 'usgov' | 'china', Cloud & { readonly suffix: string }>> = {
  public: {
    authority: 'https://login.microsoftonline.com',
    scope: 'https://monitor.azure.com/.default',
    suffix: '.ingest.monitor.azure.com',
  },
  usgov: {
    authority: 'https://login.microsoftonline.us',
    scope: 'https://monitor.azure.us/.default',
    suffix: '.ingest.monitor.azure.us',
  },
  china: {
    authority: 'https://login.chinacloudapi.cn',
    scope: 'https://monitor.azure.cn/.default',
    suffix: '.ingest.monitor.azure.cn',
  },
}

// At most 1 MB, compressed or not. Auxiliary tables reject a call whose events span more than half an hour.
const limits = { events: 10_000, bytes: 900_000, spanMs: 30 * 60_000 }
// A column holds 64 KB, and the whole document goes into one column.
const documentLimits = { fieldBytes: 32_000, eventBytes: 60_000 }
const window = timeWindow(48, 24)
const oldApi = 'belongs to the HTTP Data Collector API, which has ended: use a data collection rule'

/** Azure Monitor's Logs Ingestion API, which Microsoft Sentinel reads. */
export const azureMonitor = defineSink({
  type: 'azure_monitor',
  schema: AzureMonitorConfig,
  secretFields: ['client_secret'],
  destinationFields: ['endpoint', 'dcr_immutable_id', 'tenant_id', 'client_id', 'cloud'],
  addressFields: [{ path: 'endpoint' }],
  check: suffixProblems,
  hints: { workspace_id: oldApi, shared_key: oldApi },
  create: createAzureMonitorSink,
})

function createAzureMonitorSink(config: AzureMonitorConfig, parts: SinkParts): Sink {
  const { request, clock } = parts
  const tokens = createTokenSource(config, clouds[config.cloud ?? 'public'], parts)
  const path = `/dataCollectionRules/${config.dcr_immutable_id}/streams/${config.stream_name}?api-version=2023-01-01`
  const url = new URL(path, config.endpoint)

  const send = async (events: readonly EncodedEvent[], signal: AbortSignal): Promise<BatchResult> => {
    const { body, headers } = await compressed(
      `[${events.map(({ text }) => text).join(',')}]`,
      'application/json',
      'gzip',
    )
    const post = async (): Promise<BatchResult | ReceivedResponse> => {
      const token = await tokens.current(signal)
      if (typeof token !== 'string') return token
      return request({ method: 'POST', url, headers: { ...headers, authorization: `Bearer ${token}` }, body, signal })
    }
    let response = await post()
    if ('status' in response && response.status === 401) {
      tokens.invalidate() // it may have been revoked before its end, so try once with a new one
      response = await post()
    }
    return 'status' in response ? mapIngestionResponse(response, config, clock.nowMs()) : response
  }

  return {
    goal: { events: limits.events, bytes: limits.bytes, waitMs: 5_000 },
    deliver: (batch, signal) =>
      deliverEncoded(
        batch.map((document) => toRow(document, clock.nowMs())),
        limits,
        (events) => send(events, signal),
      ),
  }
}

/** The columns that the documented table declares. Names such as `id` or `TenantId` are reserved in Azure. */
function toRow(document: ChainedDocument, nowMs: number): EncodedEvent {
  const { metadata, policy, time } = document
  const late = isOutside(time, nowMs, window)
  const eventTime = new Date(time).toISOString()
  const row = {
    ...(!late && { TimeGenerated: eventTime }),
    EventTime: eventTime,
    EventId: metadata.uid,
    OrgId: metadata.tenant_uid,
    Sequence: metadata.sequence,
    EventCode: metadata.event_code,
    Decision: gatehouseField(document, 'decision'),
    ReasonCode: gatehouseField(document, 'reason_code'),
    PolicyId: policy?.uid,
    PolicyVersion: policy?.version,
    ActorUserId: document.actor.user?.uid,
    ProjectId: document.resources?.find(({ type }) => type === 'project')?.uid,
    Model: document.ai_model?.name,
    SeverityId: document.severity_id,
    IsLate: late,
    Event: truncated(document, documentLimits),
  }
  return toEncodedEvent(row, time)
}

function mapIngestionResponse(
  response: ReceivedResponse,
  { stream_name: stream }: AzureMonitorConfig,
  nowMs: number,
): BatchResult {
  const { error } = jsonOf(response)
  const code = isRecord(error) ? codeOf(error.code) : undefined
  const reason = `Azure answered ${response.status}${code === undefined ? '' : ` (${code})`}.`
  if (response.status === 403) {
    return pauseFor('auth_error', `${reason} The application needs the role Monitoring Metrics Publisher on the rule.`)
  }
  if (response.status === 404) {
    const hint = stream.endsWith('_CL')
      ? ' stream_name looks like the name of a table: the rule’s stream is needed.'
      : ''
    return pauseFor('config_error', `${reason} The rule does not exist, or has no such stream.${hint}`)
  }
  return batchResultOf('Azure', response, nowMs)
}

function suffixProblems({ endpoint, cloud = 'public' }: AzureMonitorConfig): ConfigProblem[] {
  const url = URL.parse(endpoint)
  const { suffix } = clouds[cloud]
  if (url?.protocol === 'https:' && url.hostname.endsWith(suffix) && url.port === '') return []
  return [{ path: 'endpoint', message: `must be https://… and end in ${suffix}` }]
}
