import Type, { type Static } from 'typebox'
import { truncated, defaultSizeLimits } from '../../domain/audit/event/truncate.ts'
import { gatehouseField, type ChainedDocument } from '../../domain/audit/event/document.ts'
import type { Sink } from '../../domain/audit/export/sink.ts'
import type { ReceivedResponse } from '../network/request.ts'
import { jsonOf, batchResultOf, pauseFor, retryLater } from './response-mapping.ts'
import { compressed, type CompressedBody } from './compression.ts'
import { defineSink, type SinkParts } from './define.ts'
import { caField, caProblems, commonFields, compressionField, masked, strict, urlField } from './fields.ts'
import { awaitAcks, type QueryAcks } from './splunk-acks.ts'
import { deliverEncoded, toEncodedEvent, type EncodedEvent, type BatchResult } from './encoded-events.ts'
import { patternOf, visibleAscii } from './patterns.ts'

const label = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description, examples: [example] }))

const SplunkHecConfig = Type.Object(
  {
    url: urlField('Address of the HTTP event collector, without a path.', 'https://splunk.example.com:8088'),
    token: Type.String({
      pattern: visibleAscii(256),
      description: `Token of the HTTP event collector. ${masked}`,
      examples: ['3f2b7c1e-9a55-4b8e-8a0e-3c1f0a6e2f11'],
    }),
    index: Type.Optional(
      Type.String({
        pattern: patternOf(
          '^[a-z0-9_][a-z0-9_-]{0,79}$',
          'must be the name of an index in lower case: letters, digits, hyphens and underscores',
        ),
        description: 'Index that stores the events, in lower case. Default: the index of the token.',
        examples: ['audit'],
      }),
    ),
    source: label('Source of the events. Default: the source of the token.', 'gatehouse'),
    sourcetype: label('Source type of the events. Default: `gatehouse:audit`.', 'gatehouse:audit'),
    host: label('Host of the events. Default: the host name of the gateway.', 'gateway-1'),
    use_ack: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Count an event as delivered only when an indexer has acknowledged it (Enterprise).',
      }),
    ),
    compression: Type.Optional(compressionField),
    tls_ca_pem: Type.Optional(caField),
    ...commonFields,
  },
  { ...strict, title: 'SplunkSinkConfig', description: 'Splunk, through its HTTP event collector.' },
)
type SplunkHecConfig = Static<typeof SplunkHecConfig>

const limits = { events: 5_000, bytes: 1_000_000 }

/** Splunk's HTTP event collector. Without `use_ack`, delivered means "accepted by Splunk", not "indexed". */
export const splunkHec = defineSink({
  type: 'splunk_hec',
  schema: SplunkHecConfig,
  secretFields: ['token'],
  destinationFields: ['url'],
  addressFields: [{ path: 'url' }],
  check: (config) => caProblems(config.tls_ca_pem),
  create: createSplunkHecSink,
})

function createSplunkHecSink(config: SplunkHecConfig, parts: SinkParts): Sink {
  const { request, clock, random, instance } = parts
  // A new channel each time the sink is opened; unacknowledged events of an earlier channel are sent again.
  const channel = uuidOf(random.bytes(16))
  const headers = {
    authorization: `Splunk ${config.token}`,
    ...(config.use_ack && { 'x-splunk-request-channel': channel }),
  }
  const post = async (path: string, payload: CompressedBody, signal: AbortSignal): Promise<ReceivedResponse> =>
    request({
      method: 'POST',
      url: new URL(path, config.url),
      signal,
      body: payload.body,
      headers: { ...headers, ...payload.headers },
    })

  const send = async (events: readonly EncodedEvent[], signal: AbortSignal): Promise<BatchResult> => {
    const text = events.map((event) => event.text).join('\n')
    const payload = await compressed(text, 'application/json', config.compression ?? 'gzip')
    const response = await post('/services/collector/event', payload, signal)
    const result = mapHecResponse(response, events.length, clock.nowMs())
    return result.kind === 'delivered' && config.use_ack ? ticketIn(response) : result
  }

  const queryAcks: QueryAcks = async (ids, signal) => {
    const payload = await compressed(JSON.stringify({ acks: ids }), 'application/json', 'none')
    return post(`/services/collector/ack?channel=${channel}`, payload, signal)
  }

  const requests = config.use_ack ? requestsAhead : 1
  return {
    goal: { events: limits.events * requests, bytes: limits.bytes * requests, waitMs: 1_000 },
    deliver: (batch, signal) =>
      deliverEncoded(
        batch.map((document) => envelope(document, config, instance)),
        limits,
        {
          send: (events) => send(events, signal),
          confirm: (tickets) =>
            awaitAcks(tickets, {
              queryAcks,
              mapResponse: (response) => mapHecResponse(response, 1, clock.nowMs()),
              clock,
              signal,
            }),
        },
      ),
  }
}

/** Requests that are sent before the first must be acknowledged. */
const requestsAhead = 8

function ticketIn(response: ReceivedResponse): BatchResult {
  const { ackId } = jsonOf(response)
  return typeof ackId === 'number' ? { kind: 'accepted', ticket: ackId } : noAck
}

const noAck = pauseFor(
  'config_error',
  'Splunk sent no acknowledgement id: switch indexer acknowledgement on for the token.',
)

function envelope(document: ChainedDocument, config: SplunkHecConfig, instance: string): EncodedEvent {
  const { metadata, policy, time } = document
  const event = {
    time: time / 1000,
    host: config.host ?? instance,
    source: config.source,
    sourcetype: config.sourcetype ?? 'gatehouse:audit',
    index: config.index,
    event: truncated(document, defaultSizeLimits),
    // Indexed fields must be strings.
    fields: {
      event_id: metadata.uid,
      org_id: metadata.tenant_uid,
      decision: gatehouseField(document, 'decision'),
      reason_code: gatehouseField(document, 'reason_code'),
      policy_id: policy?.uid,
    },
  }
  return toEncodedEvent(event, time)
}

type Meaning = readonly [kind: 'auth' | 'config' | 'event' | 'busy', text: string]

/** Splunk's own codes. 0 and 17 mean success; for codes that are not listed the HTTP status decides. */
const meanings: Readonly<Record<number, Meaning>> = {
  1: ['auth', 'the token is disabled'],
  2: ['auth', 'a token is required'],
  3: ['auth', 'the authorization is invalid'],
  4: ['auth', 'the token is invalid'],
  6: ['event', 'the data format is invalid'],
  7: ['config', 'the index is incorrect'],
  8: ['busy', 'internal server error'],
  9: ['busy', 'the server is busy'],
  10: ['config', 'the data channel is missing'],
  11: ['config', 'the data channel is invalid'],
  12: ['event', 'the event field is required'],
  13: ['event', 'the event field is blank'],
  14: ['config', 'acknowledgement is disabled'],
  15: ['event', 'the indexed fields are wrong'],
  16: ['config', 'authorization in the query is not enabled'],
  18: ['busy', 'the queues are full'],
  19: ['busy', 'acknowledgement is unavailable'],
  20: ['busy', 'the queues are full and acknowledgement is unavailable'],
}

function mapHecResponse(response: ReceivedResponse, count: number, nowMs: number): BatchResult {
  const { code, 'invalid-event-number': index } = jsonOf(response)
  const meaning = typeof code === 'number' ? meanings[code] : undefined
  if (!meaning || response.status < 400) return batchResultOf('Splunk', response, nowMs)
  const [kind, text] = meaning
  const reason = `Splunk answered ${response.status}, code ${Number(code)}: ${text}.`
  if (kind === 'busy') return retryLater(reason, response, nowMs)
  if (kind !== 'event') return pauseFor(`${kind}_error`, reason)
  const isNumbered = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < count
  return isNumbered ? { kind: 'reject_one', index, reason } : { kind: 'split', reason }
}

/** A random UUID (version 4) from 16 random bytes. */
function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
