import { startTestApp, type TestApp, type TestAppOptions } from './app.ts'
import { operatorOf } from './operator.ts'

export type Json = { readonly [name: string]: unknown }

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: Json }

export type RequestOptions = {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A client with an administrator key. Paths are relative to `/v1/organization`. */
export type Admin = {
  readonly key: string
  send(method: string, path: string, what?: RequestOptions): Promise<Answer>
  get(path: string): Promise<Json>
  /** Sends a mutation that must succeed. */
  post(path: string, body?: unknown): Promise<Json>
  /** Sends an inference request with this API key, and returns its id. */
  infer(apiKey: string, model?: string): Promise<string>
  /** Signs a browser in with the key, and returns the id of the sign-in. */
  signIn(): Promise<string>
}

export type AdminApp = TestApp & {
  /** The administrator of the first organization, with all permissions. */
  readonly admin: Admin
  /** Creates a further key of an organization, by default of the first one. */
  adminWith(permissions: readonly string[], organization?: string): Promise<Admin>
  /** Creates another organization with a project and an administrator with all permissions. */
  otherOrganization(): Promise<{ id: string; projectId: string; admin: Admin }>
}

/** Limits that are high enough for tests that are not about limits. */
const generous = { requests_per_minute: 1_000_000, concurrent_requests: 1_000_000 }

export async function startAdminApp({ config = {}, ...rest }: TestAppOptions = {}): Promise<AdminApp> {
  const administration = { credential: generous, organization: generous }
  const app = await startTestApp({ ...rest, config: { administration, ...config } })
  const adminWith = async (permissions: readonly string[], organization = app.organizationId): Promise<Admin> =>
    adminOf(app.url, (await operatorOf(app.app, organization).createAdminKey({ name: 'Test', permissions })).value)
  return {
    ...app,
    admin: adminOf(app.url, app.adminKey),
    adminWith,
    async otherOrganization() {
      const { id } = await operatorOf(app.app).createOrganization('Other')
      const project = await operatorOf(app.app, id).createProject('Other project')
      return { id, projectId: project.id, admin: await adminWith(['*'], id) }
    },
  }
}

export function adminOf(url: string, key: string): Admin {
  const send: Admin['send'] = async (method, path, { body, headers = {} } = {}) => {
    const response = await fetch(`${url}/v1/organization${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const { status, headers: answered } = response
    const isFile = /^(application\/x-ndjson|text\/html)\b/.test(answered.get('content-type') ?? '')
    const text = await response.text()
    return { status, headers: answered, body: isFile ? { lines: text } : jsonOf(text) }
  }
  const mustSucceed = async (answer: Promise<Answer>): Promise<Json> => {
    const { status, body } = await answer
    if (status >= 300) throw new Error(`answered ${status}: ${JSON.stringify(body)}`)
    return body
  }
  return {
    key,
    send,
    get: (path) => mustSucceed(send('GET', path)),
    post: (path, body) => mustSucceed(send('POST', path, { body })),
    async infer(apiKey, model = 'gatehouse-echo') {
      const body = { model, max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }
      const response = await fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      await response.text()
      return response.headers.get('x-request-id') ?? ''
    },
    async signIn() {
      const response = await fetch(`${url}/console/api/sign_in`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'x-gatehouse-console': '1' },
        body: JSON.stringify({ key }),
      })
      if (!response.ok) throw new Error(`answered ${response.status}: ${await response.text()}`)
      const { data } = await mustSucceed(send('GET', '/sign_ins?limit=1'))
      return Array.isArray(data) ? textOf(data[0]) : ''
    },
  }
}

function jsonOf(text: string): Json {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) throw new Error(`not an object: ${text}`)
  return { ...value }
}

/** The error in an error response. */
export function errorOf({ body }: Answer): Json {
  const { error } = body
  return typeof error === 'object' && error !== null ? { ...error } : {}
}

/** The items of a list. */
export const itemsOf = ({ data }: Json): Json[] => (Array.isArray(data) ? data.map((item: Json) => item) : [])

/** An id or any other text field. */
export function textOf(body: Json, field = 'id'): string {
  const value = body[field]
  if (typeof value !== 'string') throw new Error(`${field} is not a text`)
  return value
}

/** An administrator with all permissions, until a given time. */
export async function shortLivedMaker(admin: Admin, url: string): Promise<Admin & { readonly expiresAt: number }> {
  const expiresAt = Math.floor(Date.now() / 1000) + 3600
  const made = await admin.post('/admin_api_keys', { name: 'Short-lived', expires_at: expiresAt })
  return { ...adminOf(url, textOf(made, 'value')), expiresAt }
}
