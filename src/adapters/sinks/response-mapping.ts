import { isRecord } from '../../base/record.ts'
import type { Delivered, Pause, Retry } from '../../domain/audit/export/sink.ts'
import type { ReceivedResponse } from '../network/request.ts'
import type { BatchResult } from './encoded-events.ts'

export const delivered: Delivered = { kind: 'delivered' }

export const pauseFor = (state: Pause['state'], reason: string): Pause => ({ kind: 'pause', state, reason })

export function retryLater(reason: string, response: ReceivedResponse, nowMs: number): Retry {
  return { kind: 'retry', reason, retryAfterMs: retryAfterMs(response, nowMs) }
}

/**
 * The default mapping by HTTP status, if a destination has no codes of its own. A rejected credential or address pauses the
 * sink and drops nothing. A rejected body is split to find the bad event. Everything else is retried.
 */
export function batchResultOf(name: string, response: ReceivedResponse, nowMs: number): BatchResult {
  const { status } = response
  const reason = `${name} answered ${status}.`
  if (status >= 200 && status < 300) return delivered
  if (status === 401 || status === 403) return pauseFor('auth_error', `${reason} The credential is not accepted.`)
  if (status === 413) return { kind: 'split', reason: `${reason} The event is too large for it.` }
  if (status === 400 || status === 422) return { kind: 'split', reason: `${reason} The event is not accepted.` }
  if (status >= 500 || [408, 409, 425, 429].includes(status)) return retryLater(reason, response, nowMs)
  if (status >= 300 && status < 400) return pauseFor('config_error', `${reason} Redirects are not followed.`)
  return pauseFor('config_error', `${reason} Check the address.`)
}

/** `Retry-After` as seconds or as a date. */
export function retryAfterMs({ headers }: ReceivedResponse, nowMs: number): number | undefined {
  const text = headers['retry-after']
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const dateMs = Date.parse(text)
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs)
}

/** The JSON object in a response; empty if there is none. */
export function jsonOf({ body }: ReceivedResponse): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString())
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

/**
 * A vendor's error code if it is a plain word, else undefined. No other text of a destination is shown, because destinations echo
 * what they were sent, and a tenant's URL may lead to a service that answers with secrets.
 */
export function codeOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.-]{1,80}$/.test(value) ? value : undefined
}
