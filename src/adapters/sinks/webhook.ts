import Type, { type Static } from 'typebox'
import { truncated, defaultSizeLimits } from '../../domain/audit/event/truncate.ts'
import type { ChainedDocument } from '../../domain/audit/event/document.ts'
import type { Sink } from '../../domain/audit/export/sink.ts'
import { batchResultOf, pauseFor } from './response-mapping.ts'
import { defineSink, type SinkParts } from './define.ts'
import { caField, caProblems, commonFields, strict, urlField } from './fields.ts'
import { deliverEncoded, toEncodedEvent, type EncodedEvent, type BatchResult } from './encoded-events.ts'
import { signedHeaders, signingSecret } from './webhook-signature.ts'

const WebhookConfig = Type.Object(
  {
    url: urlField('Address to which batches are posted; may have a path.', 'https://logs.example.com/gatehouse'),
    secret: signingSecret,
    tls_ca_pem: Type.Optional(caField),
    ...commonFields,
  },
  { ...strict, title: 'WebhookSinkConfig', description: 'Any receiver of Standard Webhooks: signed batches.' },
)
type WebhookConfig = Static<typeof WebhookConfig>

const limits = { events: 500, bytes: 500_000 }

/** Any receiver of Standard Webhooks (https://www.standardwebhooks.com): signed batches with a timestamp. */
export const webhook = defineSink({
  type: 'webhook',
  schema: WebhookConfig,
  secretFields: ['secret'],
  destinationFields: ['url'],
  addressFields: [{ path: 'url', allowPath: true }],
  check: (config) => caProblems(config.tls_ca_pem),
  create: createWebhookSink,
})

function createWebhookSink(config: WebhookConfig, { request, clock }: SinkParts): Sink {
  const send = async (events: readonly WebhookEvent[], signal: AbortSignal): Promise<BatchResult> => {
    const body = `{"type":"audit.events","data":[${events.map(({ text }) => text).join(',')}]}`
    // A repeated batch has the same id but a new timestamp, because receivers reject old ones.
    const id = `${events[0]?.id}-${events.length}`
    const headers = signedHeaders(config.secret, { id, body, nowMs: clock.nowMs() })
    const response = await request({ method: 'POST', url: new URL(config.url), headers, body, signal })
    if (response.status === 410)
      return pauseFor('config_error', 'The receiver answered 410: it accepts no more events.')
    return batchResultOf('The receiver', response, clock.nowMs())
  }

  return {
    goal: { ...limits, waitMs: 1_000 },
    deliver: (batch, signal) => deliverEncoded(batch.map(toWebhookEvent), limits, (events) => send(events, signal)),
  }
}

type WebhookEvent = EncodedEvent & { readonly id: string }

const toWebhookEvent = (document: ChainedDocument): WebhookEvent => ({
  ...toEncodedEvent(truncated(document, defaultSizeLimits), document.time),
  id: document.metadata.uid,
})
