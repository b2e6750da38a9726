import { request, type Dispatcher } from 'undici'

export type OutgoingRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal: AbortSignal
  /** The response body is cut at this length. Default: 64 KiB. */
  readonly maxResponseBytes?: number
}

/** Header names are lower case. The values of a repeated header are joined. */
export type ReceivedResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Sends one HTTP request. Returns a response of any status, or throws `Unreachable`. Follows no redirect. */
export type SendRequest = (outgoing: OutgoingRequest) => Promise<ReceivedResponse>

/**
 * No response. The message is the same for every cause (blocked by the guard, refused by the host, unknown name, timeout),
 * because a tenant who could distinguish them could map the internal network. `cause` is for the operator's log.
 */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('The destination could not be reached.', { cause })
    this.name = 'Unreachable'
  }
}

const deadlineMs = 60_000
const idleTimeoutMs = 30_000
const defaultResponseBytes = 64 * 1024

/** Use a dispatcher from `createGuardedAgent` for URLs that tenants configured. */
export function createRequest(dispatcher: Dispatcher): SendRequest {
  return async ({ url, signal, maxResponseBytes = defaultResponseBytes, body, headers = {}, method }) => {
    try {
      checkUrl(url)
      const response = await request(url, {
        dispatcher,
        method,
        headers,
        body: body ?? null,
        headersTimeout: idleTimeoutMs,
        bodyTimeout: idleTimeoutMs,
        signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
      })
      return {
        status: response.statusCode,
        headers: flat(response.headers),
        body: await readSome(response.body, maxResponseBytes),
      }
    } catch (cause) {
      signal.throwIfAborted()
      throw new Unreachable(cause)
    }
  }
}

function checkUrl(url: URL): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Error(`the protocol ${url.protocol} is not supported`)
  if (url.username !== '' || url.password !== '') throw new Error('the URL must not contain credentials')
}

/** Breaking out of the loop destroys the stream, which also ends a response without end. */
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
