import assert from 'node:assert/strict'
import type { ProviderSettings } from '../../src/adapters/providers/registry.ts'
import {
  createAnswerMemoryBudget,
  type AnswerMemoryBudget,
} from '../../src/adapters/providers/network/answer-memory-budget.ts'
import { createProvider } from '../../src/adapters/providers/registry.ts'
import { systemClock, type Clock } from '../../src/base/clock.ts'
import { isFault, type Fault } from '../../src/base/fault.ts'
import type { InferenceEvent, Chunk } from '../../src/domain/inference/events.ts'
import { foldEvents, type FoldedAnswer } from '../../src/domain/inference/fold.ts'
import { createEventOrder } from '../../src/domain/inference/event-order.ts'
import type { ProviderCall } from '../../src/domain/inference/provider.ts'
import type { InferenceRequest, Message, ContentPart, Tool } from '../../src/domain/inference/request.ts'
import type { MemoryAnswer, MemoryRequest } from './memory-upstream.ts'
import { createMemoryUpstream } from './memory-upstream.ts'
import { requestBy } from './requests.ts'

export type Kind = ProviderSettings['kind']

export type ProviderTestCall = {
  readonly kind: Kind
  readonly answer: MemoryAnswer
  readonly request?: InferenceRequest
  readonly model?: string
  readonly maxOutputTokens?: number
  readonly isOutputLimited?: boolean
  readonly settings?: Partial<ProviderSettings>
  readonly clock?: Clock
  readonly signal?: AbortSignal
}

export type ProviderTestResult = {
  readonly chunks: readonly Chunk[]
  readonly events: readonly InferenceEvent[]
  readonly folded: FoldedAnswer
  /** The requests that the upstream received. */
  readonly sent: MemoryRequest
  readonly dropped: readonly string[]
}

const credentials = { apiKey: 'key' }

/** Provider settings with timeouts that no test reaches, even on a busy machine. */
const limits = {
  connectTimeoutMs: 60_000,
  firstByteTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  maxAnswerBytes: 16 * 1024 * 1024,
}

export const testProvider = (
  options: Pick<ProviderTestCall, 'kind' | 'settings' | 'clock'> & { readonly answerMemory?: AnswerMemoryBudget },
  dispatcher: ReturnType<typeof createMemoryUpstream>['dispatcher'],
) =>
  createProvider(
    {
      name: 'test',
      kind: options.kind,
      baseUrl: 'https://upstream.test',
      credentials: () => credentials,
      ...limits,
      ...options.settings,
    },
    {
      dispatcher,
      clock: options.clock ?? systemClock,
      estimateTokens: (byteCount) => byteCount,
      signatureKeys: () => [Buffer.from('a key for tests')],
      answerMemory: options.answerMemory ?? createAnswerMemoryBudget(Infinity),
    },
  )

/** Calls a provider with an upstream in memory, and checks the order of its events. */
export async function ask(options: ProviderTestCall): Promise<ProviderTestResult> {
  const upstream = createMemoryUpstream(options.answer)
  const dropped: string[] = []
  const call = callOf(options, (what) => dropped.push(what))
  const chunks: Chunk[] = []
  const order = createEventOrder()
  for await (const chunk of testProvider(options, upstream.dispatcher).infer(call)) {
    for (const event of chunk.events) order.accept(event)
    chunks.push(chunk)
  }
  const events = chunks.flatMap((chunk) => chunk.events)
  const [sent] = upstream.requests
  assert.ok(sent)
  return { chunks: chunks, events, folded: foldEvents(events), sent, dropped }
}

export async function askAndFail(options: ProviderTestCall): Promise<Fault> {
  const error: unknown = await ask(options).then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  )
  if (!isFault(error)) throw error
  return error
}

export const callOf = (
  options: Omit<ProviderTestCall, 'kind' | 'answer'>,
  onDropped: (what: string) => void,
): ProviderCall => ({
  request: options.request ?? requestBy('chat'),
  model: options.model ?? 'upstream-model',
  outputLimit: { tokens: options.maxOutputTokens ?? 4096, isExplicit: options.isOutputLimited ?? true },
  mayQueue: false,
  requestId: 'req_1',
  signal: options.signal ?? new AbortController().signal,
  onDropped,
})

export const streamHeaders = { 'content-type': 'text/event-stream' }
export const jsonHeaders = { 'content-type': 'application/json' }

/** The shortest answer of each kind. */
const shortAnswers: Readonly<Record<Exclude<Kind, 'echo'>, object>> = {
  anthropic: { type: 'message', content: [], stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 } },
  gemini: { candidates: [{ content: { parts: [] }, finishReason: 'STOP' }] },
  'openai-chat': { choices: [{ message: { content: '' }, finish_reason: 'stop' }] },
  'openai-responses': { status: 'completed', output: [] },
}

/** The request that an upstream of this kind receives; the answer does not matter. */
export async function sentTo(
  kind: Exclude<Kind, 'echo'>,
  request: InferenceRequest,
  more: Partial<ProviderTestCall> = {},
) {
  const answer = { headers: jsonHeaders, chunks: [JSON.stringify(shortAnswers[kind])] }
  const { sent, dropped } = await ask({ kind, request, answer, ...more })
  return { ...sent, dropped }
}

/** The error for a request that this kind of upstream does not support. */
export const refusedBy = (
  kind: Exclude<Kind, 'echo'>,
  request: InferenceRequest,
  more: Partial<ProviderTestCall> = {},
): Promise<Fault> =>
  askAndFail({ kind, request, answer: { headers: jsonHeaders, chunks: [JSON.stringify(shortAnswers[kind])] }, ...more })

export const say = (role: Message['role'], ...parts: readonly (string | ContentPart)[]): Message => ({
  role,
  parts: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
})

export const calls = (id: string, name: string, input = '{}'): ContentPart => ({ type: 'tool-call', id, name, input })

export const result = (id: string, ...parts: readonly (string | ContentPart)[]): ContentPart => ({
  type: 'tool-result',
  id,
  parts: say('user', ...parts).parts,
  isError: false,
})

export const tool = (name: string, more: object = {}): Tool => ({
  type: 'function',
  name,
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
  ...more,
})

export const image: ContentPart = { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'iVBO' } }
export const pdf: ContentPart = {
  type: 'file',
  name: 'a.pdf',
  source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBE' },
}
