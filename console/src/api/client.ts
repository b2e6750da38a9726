import createClient, { type Middleware } from 'openapi-fetch'
import { words } from '../words/en.ts'
import { ApiError, errorIn } from './error.ts'
import { fetchWithinLimits } from './retry.ts'
import type { paths } from './schema.d.ts'

/** The address of the server: the page is at `<server>/console/`, also below a path prefix. */
export const serverUrl = new URL('..', document.baseURI).href.replace(/\/$/, '')

/** The server accepts a cookie for a change only with this header, which another site cannot send. */
const consoleHeader = { 'x-gatehouse-console': '1' }

const throwErrors: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw errorIn(response.status, await response.json().catch(() => undefined))
  },
  onError: ({ error }) =>
    isCancelled(error) ? undefined : new ApiError(0, { code: 'unreachable', message: words.common.unreachable }),
}

/** The console cancels a request when a newer one replaces it. */
const isCancelled = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'

/** The public API, with types from its OpenAPI description. Methods throw `ApiError`. */
export const api = createClient<paths>({
  baseUrl: serverUrl,
  headers: consoleHeader,
  credentials: 'same-origin',
  fetch: fetchWithinLimits,
})
api.use(throwErrors)

/** The data of a successful call, which openapi-fetch types as optional. */
export async function dataOf<Data>(call: Promise<{ data?: Data }>): Promise<Data> {
  const { data } = await call
  if (data === undefined) throw new ApiError(200, { code: 'no_data', message: words.common.failed })
  return data
}

/** The raw response of a call whose answer is a stream, or has no type here. */
export async function sendRaw(path: string, body: object, options: RawOptions): Promise<Response> {
  const headers = { ...options.headers, ...consoleHeader, 'content-type': 'application/json' }
  const request = { method: 'POST', headers, body: JSON.stringify(body), signal: options.signal }
  try {
    return await fetch(serverUrl + path, request)
  } catch (error) {
    if (isCancelled(error)) throw error
    throw new ApiError(0, { code: 'unreachable', message: words.common.unreachable })
  }
}

type RawOptions = { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal }

/** Signs in with a one-time link or an administrator key. The server sets a cookie that scripts cannot read. */
export const signIn = (credential: { link: string } | { key: string }): Promise<void> => post('sign_in', credential)

/** How a browser can sign in beside keys and links. `oidc` is null if no identity provider is configured. */
export type SignInWays = { readonly oidc: { readonly name: string } | null }

export async function readSignInWays(): Promise<SignInWays> {
  const response = await fetch(`${serverUrl}/console/api/sign_in`)
  if (!response.ok) throw errorIn(response.status, await response.json().catch(() => undefined))
  return (await response.json()) as SignInWays
}

/** Leads to the identity provider and back to the page that is open. */
export function oidcAddress(): string {
  const page = location.href.slice(`${serverUrl}/console/`.length).replace(/#.*$/, '')
  return `${serverUrl}/console/api/oidc/start?${new URLSearchParams({ page }).toString()}`
}

export const signOut = (): Promise<void> => post('sign_out', {})

async function post(path: string, body: object): Promise<void> {
  const request = { method: 'POST', headers: { ...consoleHeader, 'content-type': 'application/json' } }
  const response = await fetch(`${serverUrl}/console/api/${path}`, { ...request, body: JSON.stringify(body) }).catch(
    () => undefined,
  )
  if (response === undefined) throw new ApiError(0, { code: 'unreachable', message: words.common.unreachable })
  if (!response.ok) throw errorIn(response.status, await response.json().catch(() => undefined))
}
