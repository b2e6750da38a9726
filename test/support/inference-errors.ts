import { once } from 'node:events'
import { connect } from 'node:net'
import type { Failpoint } from '../../src/base/failpoint.ts'
import { systemRandom } from '../../src/base/random.ts'
import { mintSecret } from '../../src/domain/identity/key-format.ts'
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts'
import {
  parseExchange,
  rawHead,
  send,
  sendRaw,
  type Exchange,
  type InferenceEndpoint,
  type SendOptions,
} from './inference-endpoints.ts'
import { startPaidApp, streamFrames } from './paid-app.ts'
import { answerJson, silence, stalledStream, startUpstream, type Script } from './upstream.ts'

/**
 * One way to get an error response: sends the request and reads the response. Most cases share one app with the default
 * configuration, because it takes longer to start than the request; cases with a configuration of their own start another.
 */
export type ErrorCase = (endpoint: InferenceEndpoint, defaultApp: () => Promise<TestApp>) => Promise<Exchange>

/** A request to an app with the default configuration. */
const request =
  (options: (endpoint: InferenceEndpoint, app: TestApp) => SendOptions | Promise<SendOptions>): ErrorCase =>
  async (endpoint, defaultApp) => {
    const app = await defaultApp()
    return await send(app, endpoint, await options(endpoint, app))
  }

export const requestWith = (fields: object): ErrorCase => request(({ bodyOf }) => ({ body: bodyOf('Hello', fields) }))

const withHeaders = (headers: Readonly<Record<string, string>>): ErrorCase => request(() => ({ headers }))

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

// Malformed requests

export const rawBody = (body: string | Uint8Array): ErrorCase => request(() => ({ body }))

export const otherContentType = withHeaders({ 'content-type': 'text/plain' })
export const otherContentEncoding = withHeaders({ 'content-encoding': 'compress' })

export const repeatedHeader: ErrorCase = async (endpoint, defaultApp) => {
  const app = await defaultApp()
  const lines = ['authorization: Bearer other', 'content-length: 2', 'connection: close']
  return parseExchange(await sendRaw(app, `${rawHead(app, endpoint, lines)}{}`))
}

export const freeTierNotTrue = withHeaders({ 'x-free-tier': 'yes' })
export const longPolicyHeader = withHeaders({ 'x-policy-user': 'u'.repeat(257) })
export const unknownPolicy = withHeaders({ 'x-policy-id': 'pol_none' })
export const modelOfWrongType = requestWith({ model: 7 })
export const unknownCategory = requestWith({ flagged_categories: ['cooking'] })

// Content checks

export const selfHarm = request(({ bodyOf }) => ({ body: bodyOf('I want to kill myself tonight, tell me how') }))

export const crisisMessage =
  'This was not sent on. If you are thinking about harming yourself, you do not have to face it alone: in an emergency ' +
  'call your local emergency number, and find someone to talk to, free and in confidence, at https://findahelpline.com.'

export const flaggedCategory = request(({ bodyOf }) => ({
  body: bodyOf('You are a worthless idiot and everybody hates you, loser.', { flagged_categories: ['harassment'] }),
}))

export const deniedTerm: ErrorCase = async (endpoint) => {
  await using app = await startTestApp()
  const headers = { ...bearer(app.adminKey), 'content-type': 'application/json' }
  const body = JSON.stringify({ rules: { denylist: ['falcon'] } })
  await fetch(`${app.url}/api/policy-gateway/config`, { method: 'PUT', headers, body })
  return await send(app, endpoint, { body: endpoint.bodyOf('All about the falcon.') })
}

// Credentials and permissions

export const noCredential = withHeaders({ authorization: '' })
export const notAKey = withHeaders(bearer('ak_nonsense'))
/** With a correct checksum, so that only a lookup can reject it. */
export const unknownKey = request(() => ({ headers: bearer(mintSecret('ak', systemRandom)) }))
export const administratorKey = request((_endpoint, { adminKey }) => ({ headers: bearer(adminKey) }))

/** Calls an endpoint for the API keys of the app's project. */
async function askForKey({ url, adminKey, projectId }: TestApp, { method, path = '', body }: KeyRequest) {
  const response = await fetch(`${url}/v1/organization/projects/${projectId}/api_keys${path}`, {
    method,
    headers: { ...bearer(adminKey), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return (await response.json()) as { id: string; value: string }
}

type KeyRequest = { readonly method: 'POST' | 'DELETE'; readonly path?: string; readonly body?: object }

export const revokedKey = request(async (_endpoint, app) => {
  const { id, value } = await askForKey(app, { method: 'POST', body: { name: 'Old' } })
  await askForKey(app, { method: 'DELETE', path: `/${id}` })
  return { headers: bearer(value) }
})

export const freeRequestUsed = request(async (endpoint, app) => {
  const headers = { authorization: '', 'x-free-tier': 'true' }
  await send(app, endpoint, { headers })
  return { headers }
})

export const modelNotAllowed = request(async (_endpoint, app) => ({
  headers: bearer((await askForKey(app, { method: 'POST', body: { name: 'Narrow', models: ['other'] } })).value),
}))

export const addressNotAllowed = request(async (_endpoint, app) => {
  const body = { name: 'Elsewhere', allowed_ips: ['203.0.113.0/24'] }
  return { headers: bearer((await askForKey(app, { method: 'POST', body })).value) }
})

export const otherProject = withHeaders({ 'x-policy-project': 'proj_other' })
export const unknownModel = requestWith({ model: 'nowhere' })
export const otherMethod = (method: string): ErrorCase => request(() => ({ method }))

// Time and size

export const slowBody: ErrorCase = async (endpoint) => {
  await using app = await startTestApp({ config: { server: { request_timeout_ms: 400 } } })
  const bytes = `${rawHead(app, endpoint, ['content-length: 100'])}{"model":`
  return parseExchange(await sendRaw(app, bytes, { staysOpen: true }))
}

export const announcedLargeBody: ErrorCase = async (endpoint, defaultApp) => {
  const app = await defaultApp()
  const bytes = rawHead(app, endpoint, ['content-length: 10737418240'])
  return parseExchange(await sendRaw(app, bytes, { staysOpen: true }))
}

/** Sends chunks of one megabyte until the server answers. */
export const endlessBody: ErrorCase = async (endpoint, defaultApp) => {
  const app = await defaultApp()
  const { hostname, port } = new URL(app.url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk)).on('error', () => {})
  const answered = new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
  socket.write(rawHead(app, endpoint, ['transfer-encoding: chunked']))
  const chunk = `${(1 << 20).toString(16)}\r\n${' '.repeat(1 << 20)}\r\n`
  for (let megabytes = 0; megabytes < 64 && answer === '' && !socket.destroyed; megabytes++) {
    if (!socket.write(chunk)) await Promise.race([answered, new Promise((resolve) => socket.once('drain', resolve))])
  }
  await answered
  socket.destroy()
  return parseExchange(answer)
}

// Limits and credits

const tier = { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }

const limited = (limits: object): TestAppOptions => ({
  config: { limits: { tiers: { free: { ...tier, ...limits } } } },
})

export const requestsPerMinute: ErrorCase = async (endpoint) => {
  await using app = await startTestApp(limited({ rpm: 1 }))
  let last = await send(app, endpoint)
  for (let count = 0; count < 10 && last.status === 200; count++) last = await send(app, endpoint)
  return last
}

export const tokensPerMinute: ErrorCase = async (endpoint) => {
  await using app = await startTestApp(limited({ tpm: 10 }))
  return await send(app, endpoint, { body: endpoint.bodyOf('word '.repeat(1000)) })
}

export const authenticationFailures: ErrorCase = async (endpoint) => {
  await using app = await startTestApp({ config: { server: { auth_failures_per_minute: 2 } } })
  const invalid = () => send(app, endpoint, { headers: bearer(mintSecret('ak', systemRandom)) })
  await invalid()
  await invalid()
  return await invalid()
}

export const noCredits: ErrorCase = async (endpoint) => {
  await using paid = await startPaidApp({ config: { credits: { starting: 1 } } })
  return await send(paid.app, endpoint, { body: endpoint.bodyOf('Hello', { model: 'paid' }) })
}

// Failures of the upstream

type UpstreamSettings = Readonly<Record<string, unknown>>

/** An OpenAI-compatible upstream that answers like this. */
export const upstreamCase =
  (script: Script, settings: UpstreamSettings = {}, fields: object = {}): ErrorCase =>
  async (endpoint) => {
    await using upstream = await startUpstream(script)
    await using app = await startTestApp(behind(`${upstream.url}/v1`, settings))
    return await send(app, endpoint, { body: endpoint.bodyOf('Hello', { model: 'm', ...fields }) })
  }

const behind = (url: string, settings: UpstreamSettings = {}): TestAppOptions => ({
  config: {
    upstreams: [{ name: 'up', kind: 'openai-chat', base_url: url, ...settings }],
    models: [{ name: 'm', targets: [{ upstream: 'up' }] }],
  },
})

export const upstreamStatus = (status: number, message = 'Because.', code?: string): ErrorCase =>
  upstreamCase(answerJson({ error: { message, ...(code !== undefined && { code }) } }, status))

export const contextTooLong = upstreamStatus(
  400,
  'This model’s maximum context length is 8192 tokens.',
  'context_length_exceeded',
)

export const upstreamGarbage = upstreamCase(answerJson('<html>'))

export const upstreamTooLong = upstreamCase(
  answerJson({ choices: [{ message: { role: 'assistant', content: 'x'.repeat(100_000) }, finish_reason: 'stop' }] }),
  { max_answer_bytes: 65_536 },
)

export const upstreamUnreachable: ErrorCase = async (endpoint) => {
  await using app = await startTestApp(behind('http://127.0.0.1:9/v1'))
  return await send(app, endpoint, { body: endpoint.bodyOf('Hello', { model: 'm' }) })
}

export const upstreamSilent = upstreamCase(silence, { first_byte_timeout_ms: 100 })

// Failures of the gateway

/** An error that is not a Fault, thrown in the middle of the request. */
export const unexpectedError: ErrorCase = async (endpoint) => {
  const failpoint: Failpoint = (name) => {
    if (name === 'admitted') throw new Error('a bug, with details that no caller may see')
  }
  await using app = await startTestApp({ failpoint })
  return await send(app, endpoint)
}

/** The second request on a connection whose first one was in flight when the shutdown began. */
export const shuttingDown: ErrorCase = async (endpoint) => {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const failpoint: Failpoint = async (name) => {
    if (name !== 'admitted') return
    reached.resolve()
    await released.promise
  }
  await using app = await startTestApp({ failpoint })
  const { hostname, port } = new URL(app.url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk)).on('error', () => {})
  const closed = once(socket, 'close')
  const json = JSON.stringify(endpoint.bodyOf('Hello'))
  const bytes = rawHead(app, endpoint, [`content-length: ${json.length}`]) + json
  socket.write(bytes)
  await reached.promise
  const drained = app.app.drain()
  released.resolve()
  await once(socket, 'data')
  socket.write(bytes)
  await drained
  await closed
  return parseExchange(answer)
}

/** A stream whose upstream connection breaks after the caller got the first chunk. */
export const brokenStream: ErrorCase = async (endpoint) => {
  const [first = ''] = streamFrames(['It is mild there, and often sunny. '.repeat(9)])
  const begun = Promise.withResolvers<void>()
  const script: Script = async (response, received) => {
    await stalledStream(first)(response, received)
    await begun.promise
    response.socket?.resetAndDestroy()
  }
  await using upstream = await startUpstream(script)
  await using app = await startTestApp(behind(`${upstream.url}/v1`))
  const text = 'What is the weather like in Paris in May?'
  const response = await app.post(endpoint.path, endpoint.bodyOf(text, { model: 'm', stream: true }))
  begun.resolve()
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }
}
