import type { Provider, ProviderCall } from '../../domain/inference/provider.ts'
import { createCaller } from './network/call.ts'
import type { EncodedRequest } from './encoding/encoding.ts'
import { brokenAnswer } from './failures.ts'
import type { HttpProviderParts, HttpProviderSettings } from './http-settings.ts'

/** How a vendor counts without answering: its path below the endpoint, and the fields that it does not take there. */
export type CounterSpec = { readonly path: string; readonly without: readonly string[] }

export type TokenCounterParts = HttpProviderParts & { readonly encode: (call: ProviderCall) => EncodedRequest }

/** Asks the vendor's own counter, with the body that the request itself would have. */
export function createTokenCounter(
  spec: CounterSpec,
  settings: HttpProviderSettings,
  parts: TokenCounterParts,
): NonNullable<Provider['countTokens']> {
  const url = new URL(settings.url)
  url.pathname += spec.path
  const post = createCaller({ ...settings, url }, parts)
  return async ({ request, model, signal }) => {
    const call = { request, model, signal, maxOutputTokens: 1, requestId: '', onDropped: () => {} }
    const { body, headers } = parts.encode(call)
    const kept = Object.fromEntries(Object.entries(body).filter(([name]) => !spec.without.includes(name)))
    const outgoing = { headers: { ...headers, ...settings.headers() }, body: JSON.stringify(kept), wantsStream: false }
    const lease = parts.answerMemory.open()
    const answer = await post(outgoing, signal, lease).finally(lease.release)
    const count = answer.kind === 'document' ? answer.body['input_tokens'] : undefined
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count
    throw brokenAnswer('The model’s upstream did not say how many tokens it counted.')
  }
}
