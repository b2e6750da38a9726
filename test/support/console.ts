import type { TestApp } from './app.ts'

/** A browser of the console without a window: keeps the cookie, and sends the headers of its pages. */
export type ConsoleBrowser = {
  readonly cookie: () => string
  signIn(credential: { readonly key: string } | { readonly link: string }): Promise<Response>
  signOut(): Promise<Response>
  get(path: string): Promise<Response>
  /** `headers` replace those of the console's pages. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
}

export function openBrowser({ addresses }: Pick<TestApp, 'addresses'>): ConsoleBrowser {
  const url = addresses.administration
  let cookie = ''
  const own = { 'sec-fetch-site': 'same-origin', 'x-gatehouse-console': '1' }
  const post = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = own) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(cookie && { cookie }), ...headers },
      body: JSON.stringify(body),
    })
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie
    return response
  }
  return {
    cookie: () => cookie,
    signIn: (credential) => post('/console/api/sign_in', credential),
    signOut: () => post('/console/api/sign_out', {}),
    get: (path) => fetch(url + path, { headers: { cookie } }),
    post,
  }
}

/** The token of a new one-time link. */
export async function newLink({ app }: Pick<TestApp, 'app'>, keyId?: string): Promise<string> {
  const { url } = await app.client.post<{ url: string }>(
    '/operator/organization/console_links',
    keyId === undefined ? {} : { key_id: keyId },
  )
  return url.slice(url.indexOf('#start=') + '#start='.length)
}
