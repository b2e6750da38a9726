import { request, type Dispatcher } from 'undici'

export type OutgoingRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal: AbortSignal
  /** How much of the answer is read; the rest is thrown away. 64 KiB unless said otherwise. */
  readonly maxAnswerBytes?: number
}

/** Header names are lower case; a header sent twice has its values joined. */
export type ReceivedResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** One call over the network: an answer of any status, or `Unreachable`. Never follows a redirect. */
export type SendRequest = (outgoing: OutgoingRequest) => Promise<ReceivedResponse>

/**
 * No answer came. One sentence for every cause (refused by our guard, refused by the host, unknown name, timeout):
 * a tenant who could tell them apart could map our network. `cause` is for the operator's log.
 */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('The destination could not be reached.', { cause })
    this.name = 'Unreachable'
  }
}

const deadlineMs = 60_000
const silenceMs = 30_000
const defaultAnswerBytes = 64 * 1024

/** Calls through this dispatcher; for what tenants typed, one from `createGuardedAgent`. */
export function createRequest(dispatcher: Dispatcher): SendRequest {
  return async ({ url, signal, maxAnswerBytes = defaultAnswerBytes, body, headers = {}, method }) => {
    try {
      checkUrl(url)
      const answer = await request(url, {
        dispatcher,
        method,
        headers,
        body: body ?? null,
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
        signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
      })
      return {
        status: answer.statusCode,
        headers: flat(answer.headers),
        body: await readSome(answer.body, maxAnswerBytes),
      }
    } catch (cause) {
      signal.throwIfAborted()
      throw new Unreachable(cause)
    }
  }
}

function checkUrl(url: URL): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error(`${url.protocol} is no protocol of ours`)
  if (url.username !== '' || url.password !== '') throw new Error('a URL must not carry credentials')
}

/** Leaving the loop early destroys the stream, and with it an answer that never ends. */
async function readSome(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= maxBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ])
  return Object.fromEntries(entries)
}
