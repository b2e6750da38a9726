import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { startTestApp, type TestApp } from './app.ts'
import { inferenceEndpoints, type InferenceEndpointName } from './inference-endpoints.ts'
import type { ErrorCase } from './inference-errors.ts'

/** A way to get the status, the body without `request_id`, and headers that must be there. */
export type StatusCase = readonly [name: string, send: ErrorCase, body: object, headers?: Record<string, string>]

/** Checks that each case gives this status at the endpoint, with exactly this error body. */
export function describeStatus(name: InferenceEndpointName, status: number, cases: readonly StatusCase[]): void {
  const endpoint = inferenceEndpoints[name]
  describe(`POST ${endpoint.path} answers ${status} to`, () => {
    let started: Promise<TestApp> | undefined
    const defaultApp = (): Promise<TestApp> => (started ??= startTestApp())
    after(async () => (await started)?.[Symbol.asyncDispose]())
    for (const [title, sendCase, expected, expectedHeaders = {}] of cases) {
      it(title, async () => {
        const { status: actual, headers, text } = await sendCase(endpoint, defaultApp)
        assert.equal(actual, status, text)
        const { request_id: requestId, ...body } = JSON.parse(withoutWait(text, headers)) as Record<string, unknown>
        assert.equal(requestId, headers['x-request-id'])
        assert.deepEqual(withoutEventId(withoutCode(body, headers)), expected)
        assert.partialDeepStrictEqual(headers, expectedHeaders)
      })
    }
  })
}

type SentHeaders = Readonly<Record<string, unknown>>

/** The wait in a message is that of the header. It depends on the time. */
const withoutWait = (text: string, headers: SentHeaders): string =>
  text.replace(/Retry in (\d+) seconds?\./, (_, seconds: string) => {
    assert.equal(headers['retry-after'], seconds)
    return 'Retry in N seconds.'
  })

/** Every error has its code in a header. The body of `/v1/messages` repeats it in `details`. */
function withoutCode({ error, ...body }: Record<string, unknown>, headers: SentHeaders): Record<string, unknown> {
  const code = headers['x-gatehouse-error-code']
  assert.match(String(code), /^[a-z_]+$/)
  if (typeof error !== 'object' || error === null || !('details' in error)) return { ...body, error }
  const { details, ...rest } = error
  const isOwn = JSON.stringify(details) === JSON.stringify({ error_code: code })
  return { ...body, error: isOwn ? rest : error }
}

/** The id of an audit event differs each time; the rest of `policy` does not. */
function withoutEventId({ policy, ...body }: Record<string, unknown>): object {
  if (typeof policy !== 'object' || policy === null) return body
  const { event_id: eventId, ...rest } = policy as Record<string, unknown>
  assert.match(String(eventId), /^evt_/)
  return { ...body, policy: rest }
}

/** The error body of `/v1/messages`. */
export const messagesError = (type: string, message: string) => ({ type: 'error', error: { type, message } })

/** The error body of `/v1/responses`, except for a 429. */
export const responsesError = (code: string, message: string) => ({ error: message, code })

type OpenaiError = { readonly type: string; readonly code: string; readonly param?: string | null }

/** The error body of `/v1/chat/completions`, and of a 429 of `/v1/responses`. */
export const chatError = (message: string, { type, code, param = null }: OpenaiError) => ({
  error: { message, type, param, code },
})

/** The `policy` object of a request that was denied. */
export const denied = (version: number, categories: readonly string[]) => ({
  policy: {
    decision: 'refuse',
    effective_decision: 'refuse',
    enforced: true,
    rollout_mode: 'enforced',
    reason_code: 'REFUSE',
    policy_id: 'default',
    version,
    triggered_categories: categories,
  },
})
