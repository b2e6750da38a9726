import { connect } from 'node:net'
import type { TestApp } from './app.ts'

/** One of the three inference endpoints, as a test sends requests to it. */
export type InferenceEndpoint = {
  readonly path: string
  /** A valid body with this text as its prompt. */
  readonly bodyOf: (text: string, fields?: object) => object
}

const user = (text: string) => [{ role: 'user', content: text }]

export const inferenceEndpoints = {
  messages: {
    path: '/v1/messages',
    bodyOf: (text, fields) => ({ model: 'gatehouse-echo', max_tokens: 50, messages: user(text), ...fields }),
  },
  responses: {
    path: '/v1/responses',
    bodyOf: (text, fields) => ({ model: 'gatehouse-echo', input: text, ...fields }),
  },
  chat: {
    path: '/v1/chat/completions',
    bodyOf: (text, fields) => ({ model: 'gatehouse-echo', messages: user(text), ...fields }),
  },
} as const satisfies Readonly<Record<string, InferenceEndpoint>>

export type InferenceEndpointName = keyof typeof inferenceEndpoints

/** A response, read to its end. */
export type Exchange = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export type SendOptions = {
  readonly body?: unknown
  readonly method?: string
  /** Added to the API key and the content type; an empty value leaves the header out. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends one request with the API key of the app and reads the response. */
export async function send(
  { url, apiKey }: TestApp,
  endpoint: InferenceEndpoint,
  { method = 'POST', body = endpoint.bodyOf('Hello'), headers = {} }: SendOptions = {},
): Promise<Exchange> {
  const all = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers }
  const response = await fetch(url + endpoint.path, {
    method,
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
    ...(method === 'POST' && { body: bytesOf(body) }),
  })
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }
}

function bytesOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return new Uint8Array(body)
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** The head of a request as bytes, for requests that no HTTP client would send. */
export const rawHead = (
  { apiKey }: TestApp,
  { path }: Pick<InferenceEndpoint, 'path'>,
  lines: readonly string[] = [],
): string =>
  [
    `POST ${path} HTTP/1.1`,
    'host: x',
    `authorization: Bearer ${apiKey}`,
    'content-type: application/json',
    ...lines,
    '',
    '',
  ].join('\r\n')

export type RawOptions = { /** Keeps the sending side open after the bytes. */ readonly staysOpen?: boolean }

/** Writes these bytes to the app's port. Resolves with the whole response once the connection is closed. */
export const sendRaw = ({ url }: TestApp, bytes: string, { staysOpen = false }: RawOptions = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
    socket.write(bytes)
    if (!staysOpen) socket.end()
  })

/** The last response in what was read from a connection. */
export function parseExchange(answer: string): Exchange {
  const start = answer.lastIndexOf('HTTP/1.1 ')
  const [head = '', ...body] = answer.slice(start).split('\r\n\r\n')
  const [line = '', ...fields] = head.split('\r\n')
  const headers = fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.split(': ')[1] ?? ''])
  return { status: Number(line.split(' ')[1]), headers: Object.fromEntries(headers), text: body.join('\r\n\r\n') }
}
