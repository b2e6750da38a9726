import { Value } from 'typebox/value'
import type { Clock } from '../../base/clock.ts'
import type { AlertMessage } from '../../domain/alerts/alert.ts'
import type { SendMessage, SendResult } from '../../domain/alerts/channel.ts'
import type { AddressGuard } from '../network/address-guard.ts'
import { createGuardedAgent } from '../network/guarded-agent.ts'
import { createRequest, Unreachable, type ReceivedResponse, type SendRequest } from '../network/request.ts'
import { retryAfterMs } from '../sinks/response-mapping.ts'
import { signedHeaders } from '../sinks/webhook-signature.ts'
import { SlackChannelConfig, WebhookChannelConfig } from './channel-kinds.ts'
import { slackBody, webhookBody } from './render.ts'

export type HttpChannelParts = {
  readonly guard: AddressGuard
  readonly clock: Clock
  /** Wraps the network calls. */
  readonly network: (request: SendRequest) => SendRequest
}

const timeoutMs = 15_000

/** Posts a message to a webhook. Each message has a connection of its own, so tenants never share one. */
export const createWebhookSender =
  (parts: HttpChannelParts) =>
  (config: unknown): SendMessage => {
    if (!Value.Check(WebhookChannelConfig, config)) throw new TypeError('This is not a valid webhook channel.')
    return (message, signal) => {
      const body = webhookBody(message)
      const headers = signedHeaders(config.secret, { id: message.messageId, body, nowMs: parts.clock.nowMs() })
      return post(parts, { config, headers, body, name: 'The receiver' }, signal)
    }
  }

/** Posts a message to an incoming webhook of Slack. */
export const createSlackSender =
  (parts: HttpChannelParts) =>
  (config: unknown): SendMessage => {
    if (!Value.Check(SlackChannelConfig, config)) throw new TypeError('This is not a valid Slack channel.')
    const headers = { 'content-type': 'application/json' }
    return (message: AlertMessage, signal) =>
      post(parts, { config, headers, body: slackBody(message), name: 'Slack' }, signal)
  }

type Post = {
  readonly config: { readonly url: string; readonly tls_ca_pem?: string }
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly name: string
}

async function post(
  parts: HttpChannelParts,
  { config, headers, body, name }: Post,
  signal: AbortSignal,
): Promise<SendResult> {
  const agent = createGuardedAgent({ guard: parts.guard, caPem: config.tls_ca_pem })
  try {
    const request = parts.network(createRequest(agent))
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const response = await request({ method: 'POST', url: new URL(config.url), headers, body, signal: limited })
    return resultOf(name, response, parts.clock.nowMs())
  } catch (error) {
    signal.throwIfAborted()
    const cause = error instanceof Unreachable ? error.cause : error
    return { kind: 'failed', answer: 'The destination could not be reached.', cause }
  } finally {
    await agent.destroy()
  }
}

/** No text of a destination is shown, because a tenant's URL may lead to a service that answers with secrets. */
function resultOf(name: string, response: ReceivedResponse, nowMs: number): SendResult {
  const { status } = response
  if (status >= 200 && status < 300) return { kind: 'sent', answer: `${name} answered ${status}.` }
  const redirect = status >= 300 && status < 400 ? ' Redirects are not followed.' : ''
  return {
    kind: 'failed',
    answer: `${name} answered ${status}.${redirect}`,
    retryAfterMs: retryAfterMs(response, nowMs),
  }
}
