import assert from 'node:assert/strict'
import type { TestApp } from './app.ts'

/** A browser without a window that signs in through an identity provider, redirection by redirection. */
export type OidcBrowser = {
  /** Opens the start address. Returns where the browser is sent, and the cookie of the pending sign-in. */
  start(options?: { readonly page?: string }): Promise<{ readonly url: string; readonly cookie: string }>
  /** Signs in at the identity provider. Returns the address that it sends the browser back to. */
  authorize(url: string): Promise<string>
  /** Opens the callback. Returns where the console sends the browser. */
  finish(callback: string): Promise<string>
  /** The same. Returns the cookies that are set. */
  finishWithCookies(callback: string): Promise<readonly string[]>
  /** All three steps. */
  signIn(options?: { readonly page?: string }): Promise<string>
  get(path: string): Promise<Response>
  /** `site`: where the browser says that the request comes from. */
  send(method: string, path: string, what?: { readonly body?: unknown; readonly site?: string }): Promise<Response>
}

export function openOidcBrowser({ addresses }: Pick<TestApp, 'addresses'>, cookie = ''): OidcBrowser {
  const url = addresses.administration
  const jar = new Map<string, string>()
  const keep = (set: readonly string[]): void => {
    for (const [pair = ''] of set.map((text) => text.split(';'))) {
      const [name = '', value = ''] = pair.split('=', 2)
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
  }
  if (cookie !== '') keep([cookie])
  const cookies = () => ({ cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') })
  const follow = async (address: string): Promise<{ location: string; set: readonly string[] }> => {
    const response = await fetch(address, { redirect: 'manual', headers: cookies() })
    assert.equal(response.status, 302, `${response.status}: ${await response.text()}`)
    keep(response.headers.getSetCookie())
    return { location: response.headers.get('location') ?? '', set: response.headers.getSetCookie() }
  }
  const start: OidcBrowser['start'] = async ({ page } = {}) => {
    const query = page === undefined ? '' : `?${new URLSearchParams({ page }).toString()}`
    const { location, set } = await follow(`${url}/console/api/oidc/start${query}`)
    return { url: location, cookie: set[0] ?? '' }
  }
  const authorize: OidcBrowser['authorize'] = async (address) => {
    const response = await fetch(address, { redirect: 'manual' })
    return response.headers.get('location') ?? ''
  }
  const finish: OidcBrowser['finish'] = async (callback) => (await follow(new URL(callback, url).href)).location
  return {
    start,
    authorize,
    finish,
    finishWithCookies: async (callback) => (await follow(callback)).set,
    signIn: async (options) => finish(await authorize((await start(options)).url)),
    get: (path) => fetch(url + path, { headers: cookies() }),
    send: (method, path, { body, site = 'same-origin' } = {}) =>
      fetch(url + path, {
        method,
        headers: {
          ...cookies(),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          'x-gatehouse-console': '1',
          'sec-fetch-site': site,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  }
}
