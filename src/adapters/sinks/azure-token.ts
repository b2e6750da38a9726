import type { DeliveryOutcome } from '../../domain/audit/export/sink.ts'
import type { ReceivedResponse } from '../network/request.ts'
import { codeOf, jsonOf, pauseFor, retryLater } from './response-mapping.ts'
import type { SinkParts } from './define.ts'

export type ClientCredentials = {
  readonly tenant_id: string
  readonly client_id: string
  readonly client_secret: string
}

export type Cloud = { readonly authority: string; readonly scope: string }

/** An access token, or why there is none. */
export type AzureTokenSource = {
  current(signal: AbortSignal): Promise<string | DeliveryOutcome>
  /** Called when the service no longer accepts the token. */
  invalidate(): void
}

const renewBeforeMs = 5 * 60_000

/** Client credentials flow of Microsoft's identity platform. Renews the token before it expires; concurrent callers share one call. */
export function createTokenSource(client: ClientCredentials, cloud: Cloud, parts: SinkParts): AzureTokenSource {
  const { request, clock } = parts
  let cached: { readonly token: string; readonly renewAtMs: number } | undefined
  let pending: Promise<string | DeliveryOutcome> | undefined

  const renew = async (signal: AbortSignal): Promise<string | DeliveryOutcome> => {
    const response = await request({
      method: 'POST',
      url: new URL(`${cloud.authority}/${encodeURIComponent(client.tenant_id)}/oauth2/v2.0/token`),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: formOf(client, cloud.scope),
      signal,
    })
    const { access_token: token, expires_in: seconds } = jsonOf(response)
    if (response.status !== 200 || typeof token !== 'string') return problemOf(response, client, clock.nowMs())
    cached = { token, renewAtMs: clock.nowMs() + Number(seconds ?? 0) * 1000 - renewBeforeMs }
    return token
  }

  return {
    invalidate: () => {
      cached = undefined
    },
    async current(signal) {
      if (cached && clock.nowMs() < cached.renewAtMs) return cached.token
      pending ??= renew(signal).finally(() => {
        pending = undefined
      })
      return pending
    },
  }
}

function formOf(client: ClientCredentials, scope: string): string {
  return new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: client.client_id,
    client_secret: client.client_secret,
    scope,
  }).toString()
}

function problemOf(response: ReceivedResponse, client: ClientCredentials, nowMs: number): DeliveryOutcome {
  const code = codeOf(jsonOf(response).error) ?? 'no code'
  const reason = `Microsoft's login answered ${response.status} (${code}).`
  if (response.status === 429 || response.status >= 500 || response.status === 200)
    return retryLater(reason, response, nowMs)
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(client.client_secret)
  const hint = isId ? ' client_secret looks like the id of a secret: its value is needed.' : ''
  return pauseFor('auth_error', reason + hint)
}
