import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { systemRandom } from '../../src/base/random.ts'
import { upstreamKinds } from '../../src/wire/upstream-kinds.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startUpstream, type ReceivedRequest } from '../support/upstream.ts'

/** The kinds of upstream that are reached over the network. A new kind is in these tests without further changes. */
export const networkKinds = upstreamKinds.filter((kind) => kind !== 'echo')
export type NetworkKind = (typeof networkKinds)[number]

/** The kinds whose formats callers use as well. */
export const httpKinds = ['anthropic', 'openai-chat', 'openai-responses'] as const
export type HttpKind = (typeof httpKinds)[number]

/** How an upstream fails. `hold` waits until the caller disconnects. */
export const faults = ['cut', 'end', 'error', 'garbage', 'silence'] as const
export type FaultName = (typeof faults)[number]

/** What a prompt tells the upstream to do: replay a recording as a stream or document, up to a point, and then fail. */
export type Play = {
  readonly recording: 'text' | 'parallel-tools' | 'citations'
  readonly form: 'stream' | 'document'
  /** Frames of a stream, or quarters of a document, that are sent before the fault. */
  readonly at: number
  readonly fault: FaultName | 'hold'
}

/** The upstream has no state: each prompt contains what is to be replayed, so requests can run concurrently. */
export const promptOf = ({ recording, form, at, fault }: Play): string => `play ${recording} ${form} ${at} ${fault}`

/** Prompts of the form `refuse with 429` get that status. */
export const refusalPrompt = (status: number): string => `refuse with ${status}`

export type ScriptedScene = AsyncDisposable & {
  readonly app: TestApp
  /** Resolves when a prompt has reached an upstream. */
  receivedRequest(prompt: string): Promise<ReceivedRequest>
}

/** Short, because it is waited for hundreds of times. */
const idleTimeoutMs = 60
const patienceMs = 60_000

/**
 * A gateway with one upstream of each kind. The model `<kind>` has long timeouts; `<kind>-hasty` has short ones for upstreams
 * that stall.
 */
export async function startScripted(): Promise<ScriptedScene> {
  await using built = new AsyncDisposableStack()
  const arrivals = new Map<string, PromiseWithResolvers<ReceivedRequest>>()
  const arrival = (prompt: string): PromiseWithResolvers<ReceivedRequest> =>
    arrivals.getOrInsertComputed(prompt, () => Promise.withResolvers())
  const upstreams = []
  for (const kind of networkKinds) {
    const server = built.use(
      await startUpstream(async (response, request) => {
        const prompt = promptIn(request.body)
        arrival(prompt).resolve(request)
        await play(kind, prompt, response)
      }),
    )
    const base = {
      kind,
      base_url: kind.startsWith('openai') ? `${server.url}/v1` : server.url,
      api_key: 'upstream-key',
    }
    upstreams.push(
      { ...base, name: kind, idle_timeout_ms: patienceMs, first_byte_timeout_ms: patienceMs },
      { ...base, name: `${kind}-hasty`, idle_timeout_ms: idleTimeoutMs, first_byte_timeout_ms: idleTimeoutMs },
    )
  }
  const models = upstreams.map(({ name }) => ({ name, targets: [{ upstream: name, model: 'recorded' }] }))
  // Retries run immediately.
  const random = { ...systemRandom, fraction: () => 0 }
  const app = built.use(await startTestApp({ config: { upstreams, models }, random }))
  const kept = built.move()
  return {
    app,
    receivedRequest: (prompt) => arrival(prompt).promise,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** The last prompt, because earlier turns of a conversation contain prompts too. */
const promptIn = (body: string): string =>
  [...body.matchAll(/play [\w-]+ \w+ \d+ \w+( #\d+)?|refuse with \d+/g)].at(-1)?.[0] ?? body

async function play(kind: NetworkKind, prompt: string, response: ServerResponse): Promise<void> {
  const [, refusal] = /^refuse with (\d+)/.exec(prompt) ?? []
  if (refusal !== undefined) return refuse(kind, Number(refusal), response)
  const [, recording = '', form = '', at = '', fault = ''] = /^play ([\w-]+) (\w+) (\d+) (\w+)/.exec(prompt) ?? []
  const chunks = form === 'stream' ? framesOf(kind, recording) : quartersOf(kind, recording)
  response.writeHead(200, { 'content-type': form === 'stream' ? 'text/event-stream' : 'application/json' })
  response.flushHeaders()
  for (const chunk of chunks.slice(0, Number(at))) await write(response, chunk)
  await goWrong(kind, form, { fault, response })
}

async function goWrong(
  kind: NetworkKind,
  form: string,
  { fault, response }: { fault: string; response: ServerResponse },
): Promise<void> {
  if (fault === 'hold' || fault === 'silence') return
  if (fault === 'cut') return void response.socket?.resetAndDestroy()
  if (fault === 'error') await write(response, form === 'stream' ? errorFrames[kind] : '{"error":{"message":"broken"}}')
  if (fault === 'garbage') await write(response, form === 'stream' ? 'data: {"type":"conte\n\n' : '\u0000<html>')
  response.end()
}

const words: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  503: 'server_error',
  529: 'overloaded_error',
}

function refuse(kind: NetworkKind, status: number, response: ServerResponse): void {
  const error = { type: words[status] ?? 'api_error', message: `The upstream says ${status}.` }
  response.writeHead(status, { 'content-type': 'application/json', ...(status >= 429 && { 'retry-after': '7' }) })
  response.end(JSON.stringify(kind === 'anthropic' ? { type: 'error', error } : { error: { ...error, code: null } }))
}

const errorFrames: Readonly<Record<NetworkKind, string>> = {
  gemini: 'data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}\r\n\r\n',
  anthropic: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  'openai-chat': 'data: {"error":{"message":"Overloaded","type":"server_error","code":"server_is_overloaded"}}\n\n',
  'openai-responses':
    'event: error\ndata: {"type":"error","code":"server_is_overloaded","message":"Overloaded","param":null}\n\n',
}

const fixture = (kind: NetworkKind, name: string): string =>
  readFileSync(join(import.meta.dirname, '../../src/adapters/providers', kind, 'fixtures', name), 'utf8')

/** The frames of a recorded stream. */
export const framesOf = (kind: NetworkKind, recording: string): string[] =>
  fixture(kind, `${recording}.sse`).split(/(?<=\n\r?\n)/)

function quartersOf(kind: NetworkKind, recording: string): string[] {
  const document = fixture(kind, `${recording}.json`)
  const quarter = Math.ceil(document.length / 4)
  return Array.from({ length: 4 }, (_, at) => document.slice(at * quarter, (at + 1) * quarter))
}

const write = (response: ServerResponse, chunk: string): Promise<void> =>
  new Promise((resolve) => response.write(chunk, () => resolve()))
