import { messageOf } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import type { Transport } from './api-client.ts'

/** A server on the network, and the administrator key with which a command calls its API. */
export type RemoteServer = { readonly url: URL; readonly adminKey: string }

/** As long as the API may take for the longest report. */
const timeoutMs = 60_000

/** Calls the API of a server on the network. A redirect is not followed, because the key would be sent to another address. */
export const networkTransport =
  ({ url, adminKey }: RemoteServer): Transport =>
  async ({ method, path, headers: { host: _local, ...headers }, body }) => {
    if (path.startsWith('/operator/')) throw new NeedsServerMachine()
    const address = new URL(`${url.pathname.replace(/\/+$/, '')}${path}`, url)
    const response = await fetch(address, {
      method,
      headers: { ...headers, authorization: `Bearer ${adminKey}` },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: unknown) => {
      throw new Error(`${url.href} cannot be reached: ${reasonOf(error)}`, { cause: error })
    })
    const text = await response.text()
    if (!isAnswerOfApi(response, text))
      throw new Error(
        `What answers at ${url.href} is not the API of Gatehouse: status ${response.status}, ${response.headers.get('content-type') ?? 'no content type'}. Name the address of the server with --url, with the path under which a proxy serves it.`,
      )
    return { status: response.status, headers: Object.fromEntries(response.headers), text }
  }

/** An error of the API is an object too, so an answer that is none comes from a proxy or another service. */
function isAnswerOfApi({ status }: Response, text: string): boolean {
  if (text === '') return status < 300
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) && (status < 300 || isRecord(value['error']))
  } catch {
    return false
  }
}

/** `fetch` reports only that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `it did not answer within ${timeoutMs / 1000} seconds`
  return messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error)
}

/** The route is the operator's, who has no key but access to the machine. */
class NeedsServerMachine extends Error {
  constructor() {
    super(
      'This works only on the machine of the server, because no administrator key may do it. Run the command there, without --url and GATEHOUSE_URL.',
    )
    this.name = 'NeedsServerMachine'
  }
}
