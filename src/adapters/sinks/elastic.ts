import Type, { type Static } from 'typebox'
import { truncated, defaultSizeLimits } from '../../domain/audit/event/truncate.ts'
import type { ChainedDocument } from '../../domain/audit/event/document.ts'
import type { ConfigProblem, DeliveryOutcome, Sink } from '../../domain/audit/export/sink.ts'
import type { ReceivedResponse } from '../network/request.ts'
import { isRecord } from '../../base/record.ts'
import { codeOf, delivered, jsonOf, batchResultOf, pauseFor } from './response-mapping.ts'
import { compressed } from './compression.ts'
import { defineSink, type SinkParts } from './define.ts'
import { toEcs } from './ecs.ts'
import { caField, caProblems, commonFields, compressionField, masked, strict, urlField } from './fields.ts'
import { deliverEncoded, type EncodedEvent, type BatchResult } from './encoded-events.ts'
import { patternOf, visibleAscii } from './patterns.ts'

const nameWords = 'must be a name in lower case: letters, digits, dots, hyphens and underscores, at most 100 characters'
const name = (firstAndOther: string, description: string, example: string) =>
  Type.Optional(
    Type.String({ pattern: patternOf(`^${firstAndOther}{0,99}$`, nameWords), description, examples: [example] }),
  )
const streamPart = '[a-z0-9._][a-z0-9._]'
const indexName = '[a-z0-9.][a-z0-9._-]'
const credential = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 500, description, examples: [example] })

const apiKey = Type.String({
  pattern: visibleAscii(500),
  description: `API key as \`id:key\`, or the base64 of that. ${masked}`,
  examples: ['VuaCfGcBCdbkQm:ui2lp2axTNmsyakw9tvNnw'],
})

const ElasticConfig = Type.Object(
  {
    url: Type.Optional(
      urlField(
        'Address of Elasticsearch or OpenSearch; may have a path. Either `url` or `cloud_id` is required.',
        'https://elastic.example.com:9243',
      ),
    ),
    cloud_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'The deployment in Elastic Cloud, instead of `url`.',
        examples: ['audit:ZXhhbXBsZS5jb20kYWJj'],
      }),
    ),
    auth: Type.Union(
      [
        Type.Object({ type: Type.Literal('api_key'), api_key: apiKey }, strict),
        Type.Object(
          {
            type: Type.Literal('basic'),
            username: credential('Name of the user.', 'gatehouse'),
            password: credential(`Password of the user. ${masked}`, 'correct-horse'),
          },
          strict,
        ),
      ],
      { description: 'How the gateway authenticates.' },
    ),
    mode: Type.Optional(
      Type.Enum(['data_stream', 'index'], {
        default: 'data_stream',
        description: 'Whether events are stored in a data stream, or in the index that `index` names.',
      }),
    ),
    data_stream: Type.Optional(
      Type.Object(
        {
          dataset: name(streamPart, 'Dataset, in lower case. Default: `gatehouse.audit`.', 'gatehouse.audit'),
          namespace: name(indexName, 'Namespace, in lower case. Default: `default`.', 'default'),
        },
        { ...strict, description: 'Name of the data stream, `logs-DATASET-NAMESPACE`.' },
      ),
    ),
    index: name(indexName, 'Index or alias, in lower case. Required in mode `index`, not allowed otherwise.', 'audit'),
    pipeline: name(indexName, 'Ingest pipeline that processes the events.', 'audit'),
    compression: Type.Optional(compressionField),
    tls_ca_pem: Type.Optional(caField),
    ...commonFields,
  },
  { ...strict, title: 'ElasticSinkConfig', description: 'Elasticsearch or OpenSearch, through the bulk API.' },
)
type ElasticConfig = Static<typeof ElasticConfig>

const limits = { events: 5_000, bytes: 5_000_000 }
const maxResponseBytes = 8_000_000

/** Elasticsearch and OpenSearch, with the bulk API. The event's id is the document's id, so an event that is sent twice is stored once. */
export const elastic = defineSink({
  type: 'elastic',
  schema: ElasticConfig,
  secretFields: ['auth.api_key', 'auth.password'],
  destinationFields: ['url', 'cloud_id', 'auth.type', 'auth.username'],
  addressFields: [
    { path: 'url', allowPath: true },
    { path: 'cloud_id', decode: cloudUrl },
  ],
  check: (config) => [...addressProblems(config), ...caProblems(config.tls_ca_pem)],
  create: createElasticSink,
})

function createElasticSink(config: ElasticConfig, { request, clock }: SinkParts): Sink {
  const url = bulkUrl(config)
  const authorization = authorizationOf(config.auth)

  const send = async (events: readonly EncodedEvent[], signal: AbortSignal): Promise<BatchResult> => {
    const text = events.map((event) => `${event.text}\n`).join('')
    const { body, headers } = await compressed(text, 'application/x-ndjson', config.compression ?? 'gzip')
    const response = await request({
      method: 'POST',
      url,
      headers: { ...headers, authorization },
      body,
      signal,
      maxResponseBytes,
    })
    return mapBulkResponse(response, events.length, clock.nowMs())
  }

  return {
    goal: { ...limits, waitMs: 1_000 },
    deliver: (batch, signal) => deliverEncoded(batch.map(toLines), limits, (events) => send(events, signal)),
  }
}

/** `create` instead of `index`: an existing document is not overwritten, and data streams accept nothing else. */
function toLines(document: ChainedDocument): EncodedEvent {
  const action = JSON.stringify({ create: { _id: document.metadata.uid } })
  const text = `${action}\n${JSON.stringify(toEcs(truncated(document, defaultSizeLimits)))}`
  return { text, bytes: Buffer.byteLength(text), timeMs: document.time }
}

/** A response with status 200 may contain failures: each item has its own status. */
function mapBulkResponse(response: ReceivedResponse, count: number, nowMs: number): BatchResult {
  if (response.status === 404) return pauseFor('config_error', 'Elasticsearch answered 404: there is no such index.')
  if (response.status !== 200) return batchResultOf('Elasticsearch', response, nowMs)
  const { errors, items } = jsonOf(response)
  if (errors === false) return delivered
  if (!Array.isArray(items) || items.length !== count) {
    return { kind: 'retry', reason: 'Elasticsearch answered 200 without a valid bulk response.' }
  }
  return { kind: 'each', outcomes: items.map(mapBulkItem) }
}

function mapBulkItem(item: unknown): DeliveryOutcome {
  const result = isRecord(item) && isRecord(item.create) ? item.create : {}
  const status = typeof result.status === 'number' ? result.status : 0
  const error = isRecord(result.error) ? result.error : {}
  const type = codeOf(error.type)
  const reason = `Elasticsearch answered ${status} for the event: ${type ?? 'no reason given'}${fieldOf(error.reason)}.`
  if (status === 200 || status === 201) return delivered
  if (status === 409 && type === 'version_conflict_engine_exception') return delivered // stored by an earlier attempt
  // A full disk locks indices. Elasticsearch unlocks them once there is space.
  if (type === 'cluster_block_exception') return { kind: 'retry', reason }
  if (status === 401 || status === 403) return pauseFor('auth_error', reason)
  if (status === 404) return pauseFor('config_error', reason)
  if (status === 400 || status === 413) return { kind: 'reject', reason }
  return { kind: 'retry', reason }
}

/** Only the field's name is taken from the reason, because the rest may quote the event. */
function fieldOf(reason: unknown): string {
  const field = typeof reason === 'string' ? codeOf(/field \[([^\]]+)\]/.exec(reason)?.[1]) : undefined
  return field === undefined ? '' : `, field ${field}`
}

function bulkUrl({ url, cloud_id: cloudId, mode, data_stream: stream, index, pipeline }: ElasticConfig): URL {
  const base = url ?? cloudUrl(cloudId ?? '') ?? ''
  const streamName = `logs-${stream?.dataset ?? 'gatehouse.audit'}-${stream?.namespace ?? 'default'}`
  const target = mode === 'index' ? index : streamName
  const bulk = new URL(`${base.replace(/\/+$/, '')}/${target}/_bulk`)
  bulk.searchParams.set('filter_path', 'errors,items.*.status,items.*.error.type,items.*.error.reason')
  if (pipeline !== undefined) bulk.searchParams.set('pipeline', pipeline)
  return bulk
}

/** A cloud id is `name:` followed by the base64 of `host$elasticsearch$kibana`. */
function cloudUrl(cloudId: string): string | undefined {
  const decoded = Buffer.from(cloudId.slice(cloudId.indexOf(':') + 1), 'base64').toString()
  const [host, cluster] = decoded.split('$')
  const [domain, port] = (host ?? '').split(':')
  const url = `https://${cluster}.${domain}${port === undefined ? '' : `:${port}`}`
  return cluster && domain && URL.canParse(url) ? url : undefined
}

function authorizationOf(auth: ElasticConfig['auth']): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  if (auth.type === 'basic') return `Basic ${base64(`${auth.username}:${auth.password}`)}`
  return `ApiKey ${auth.api_key.includes(':') ? base64(auth.api_key) : auth.api_key}`
}

function addressProblems({ url, cloud_id: cloudId, mode, index }: ElasticConfig): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  if ((url === undefined) === (cloudId === undefined))
    problems.push({ path: 'url', message: 'give either url or cloud_id' })
  if (cloudId !== undefined && !cloudUrl(cloudId)) problems.push({ path: 'cloud_id', message: 'is not a cloud id' })
  if ((mode === 'index') !== (index !== undefined)) problems.push({ path: 'index', message: 'belongs to mode index' })
  return problems
}
