import type { Clock } from '../../base/clock.ts'
import { Fault, isUpstreamFault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { Semaphore } from '../../base/semaphore.ts'
import type { Model, Price } from '../../domain/inference/catalogue.ts'
import { estimateTokens } from '../../domain/inference/count.ts'
import type { InferenceEvent, Chunk, Usage } from '../../domain/inference/events.ts'
import { foldEvents } from '../../domain/inference/fold.ts'
import { createUpstreamHealth } from '../../domain/inference/health.ts'
import type { Provider, ProviderCall } from '../../domain/inference/provider.ts'
import type { Dialect, InferenceRequest } from '../../domain/inference/request.ts'
import type { DayBudget } from './day-budget.ts'
import { route, type StartedAnswer, type RouteParts } from '../route.ts'
import { noFieldRoles } from '../../domain/inference/field-roles.ts'

export type AskModelParts = RouteParts & {
  /** The name is looked up for each question, as a caller's would be. */
  readonly findModel: () => Model | undefined
  readonly ids: Ids
  readonly semaphore: Semaphore
  readonly budget: DayBudget
  /** Told of each call that was paid for. */
  readonly onUsage: (usage: Usage, usd: number) => void
}

export type ModelQuestion = {
  readonly system: string
  readonly user: string
  readonly maxOutputTokens: number
  readonly timeoutMs: number
}

/** One question of our own to a model of the catalogue. Throws a Fault where no whole answer came in time. */
export type AskModel = (question: ModelQuestion, signal: AbortSignal) => Promise<string>

/** A model that does not stop is stopped: no token is longer than this. */
const charactersPerToken = 16

export function createAskModel(parts: AskModelParts): AskModel {
  const { clock, ids, semaphore: turns, budget } = parts
  const breaker = createUpstreamHealth(clock)
  const routing = { ...parts, providers: new Map([...parts.providers].map(([name, one]) => [name, translated(one)])) }

  return async (question, callerSignal) => {
    using patience = createDeadline(clock, question.timeoutMs * waitsPerCall, callerSignal)
    using _turn = await turns.acquire(patience.signal)
    using deadline = createDeadline(clock, question.timeoutMs, callerSignal)
    return await ask(question, deadline.signal)
  }

  async function ask(question: ModelQuestion, signal: AbortSignal): Promise<string> {
    if (breaker.isCoolingDown(breakerName))
      throw unavailable('The judge has failed several times and rests for a while.')
    const model = parts.findModel()
    if (!model) throw unavailable('The judge’s model is not in the catalogue.')
    const expected = expectedUsage(question)
    const settle = budget.reserve(usdOf(expected, model.price))
    if (!settle) throw unavailable('The judge has spent what it may spend today.')
    let spent = 0
    try {
      const call = { request: requestOf(question, model.name), requestId: ids('req'), signal, onDropped: () => {} }
      await using begun = await begin(model, { ...call, maxOutputTokens: question.maxOutputTokens })
      spent = usdOf(expected, model.price) // whatever becomes of it now, it is paid for
      const { text, usage } = await readAnswer(begun.chunks, question.maxOutputTokens)
      spent = usdOf(usage, model.price)
      parts.onUsage(usage, spent)
      return text
    } catch (error) {
      signal.throwIfAborted() // being late is the reason, however the upstream puts it
      throw error
    } finally {
      settle(spent)
    }
  }

  /** Only what is no fault of the one who asks counts against the judge: else three bad texts could silence it for all. */
  async function begin(model: Model, call: Omit<ProviderCall, 'model'>): Promise<StartedAnswer> {
    try {
      const begun = await route(routing, model, call)
      breaker.succeeded(breakerName)
      return begun
    } catch (error) {
      const cause: unknown = call.signal.aborted ? call.signal.reason : error
      if (isUpstreamFault(cause)) breaker.failed(breakerName)
      throw error
    }
  }
}

const breakerName = 'judge'
/** How many calls' time one may wait for its turn: a long chat that nobody has judged yet asks many questions at once. */
const waitsPerCall = 6

const unavailable = (message: string): Fault => new Fault('unavailable', 'unavailable', message)

/** Upstreams of every dialect get our words in theirs, with whatever their models refuse left out. */
const translated = (provider: Provider): Provider => ({
  ...provider,
  infer: (call) => {
    const dialect: Dialect = provider.dialect === 'messages' ? 'chat' : 'messages'
    return provider.infer({ ...call, request: { ...call.request, raw: { ...call.request.raw, dialect } } })
  },
})

const requestOf = ({ system, user, maxOutputTokens }: ModelQuestion, model: string): InferenceRequest => ({
  model,
  stream: false,
  messages: [
    { role: 'system', parts: [{ type: 'text', text: system }] },
    { role: 'user', parts: [{ type: 'text', text: user }] },
  ],
  maxOutputTokens,
  temperature: 0,
  stop: [],
  tools: [],
  flaggedCategories: [],
  raw: { dialect: 'messages', body: {}, headers: {}, roles: noFieldRoles },
})

type ReadAnswer = { readonly text: string; readonly usage: Usage }

async function readAnswer(pieces: AsyncIterable<Chunk>, maxOutputTokens: number): Promise<ReadAnswer> {
  const events: InferenceEvent[] = []
  let length = 0
  for await (const piece of pieces) {
    for (const event of piece.events) if (event.type === 'delta') length += event.text.length
    if (length > maxOutputTokens * charactersPerToken) throw noAnswer('The model does not stop.')
    events.push(...piece.events)
  }
  const { blocks, stopReason, end } = foldEvents(events)
  if (stopReason !== 'end') throw noAnswer(`The model stopped early: ${stopReason}.`)
  return { text: blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''), usage: end.usage }
}

const noAnswer = (message: string): Fault => new Fault('upstream_failed', 'upstream_error', message)

const expectedUsage = ({ system, user, maxOutputTokens }: ModelQuestion): Usage => ({
  inputTokens: estimateTokens(system) + estimateTokens(user),
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: maxOutputTokens,
  reasoningTokens: 0,
  source: 'estimated',
})

const usdOf = (usage: Usage, price: Price): number =>
  (usage.inputTokens * price.input +
    usage.cacheReadTokens * price.cacheRead +
    usage.cacheWriteTokens * price.cacheWrite +
    usage.outputTokens * price.output) /
  1_000_000

type Deadline = Disposable & { readonly signal: AbortSignal }

function createDeadline(clock: Clock, timeoutMs: number, caller: AbortSignal): Deadline {
  const late = new AbortController()
  const reason = new Fault('upstream_timeout', 'upstream_timeout', 'The judge did not answer in time.')
  const cancel = clock.after(timeoutMs, () => late.abort(reason))
  return { signal: AbortSignal.any([caller, late.signal]), [Symbol.dispose]: cancel }
}
