import type { Clock } from '../../base/clock.ts'
import { Fault, isFault, isUpstreamFault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { Semaphore } from '../../base/semaphore.ts'
import type { Model, Price } from '../../domain/inference/catalogue.ts'
import { estimateTokens } from '../../domain/inference/count.ts'
import type { InferenceEvent, Chunk, Usage } from '../../domain/inference/events.ts'
import { foldEvents } from '../../domain/inference/fold.ts'
import { createUpstreamHealth } from '../../domain/inference/health.ts'
import type { DayBudget } from '../../domain/judges/day-budget.ts'
import type { OwnModelCall } from '../../domain/inference/own-model-call.ts'
import type { Provider } from '../../domain/inference/provider.ts'
import { translatedFormat } from '../../domain/inference/formats.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import { chatOperation } from '../operations/chat.ts'
import { route, type RoutedCall, type RouteParts, type StartedAnswer } from '../route.ts'
import { noFieldRoles } from '../../domain/inference/field-roles.ts'

export type CallModelParts = Omit<RouteParts, 'providers'> & {
  /** Looked up for each call, because the catalogue may change. */
  readonly findModel: () => MaybePromise<CalledModel | undefined>
  readonly ids: Ids
  readonly semaphore: Semaphore
  readonly budget: DayBudget
  /** Called after each successful call. */
  readonly onUsage: (usage: Usage, usd: number) => void
}

export type CalledModel = Pick<RouteParts, 'providers'> & { readonly model: Model }

export type ModelPrompt = {
  readonly system: string
  readonly user: string
  readonly maxOutputTokens: number
  readonly timeoutMs: number
  /** Default: 0, so that the same text gets the same answer. */
  readonly temperature?: number
  /** Called with what an upstream has charged for, and with the model that it says has answered; undefined if it broke off. */
  readonly onSpent?: ((usd: number, answered: AnsweredModel | undefined) => void) | undefined
  /** Called when the call has ended. */
  readonly onCalled?: ((call: OwnModelCall) => void) | undefined
}

/** An upstream, and its model as it reports it. */
export type AnsweredModel = { readonly upstream: string; readonly model: string }

/** Calls a model of the catalogue for the gateway itself. Throws a Fault if no complete response arrives in time. */
export type CallModel = (prompt: ModelPrompt, signal: AbortSignal) => Promise<string>

/** Upper bound per token; a longer response is cut off. */
const charactersPerToken = 16

export function createCallModel(parts: CallModelParts): CallModel {
  const { clock, ids, semaphore, budget } = parts
  const breaker = createUpstreamHealth(clock)
  const translatedProviders = createTranslation()

  return async (prompt, callerSignal) => {
    using queueDeadline = createDeadline(clock, prompt.timeoutMs * queueTimeouts, callerSignal)
    using _slot = await semaphore.acquire(queueDeadline.signal)
    using deadline = createDeadline(clock, prompt.timeoutMs, callerSignal)
    return await callModel(prompt, deadline.signal)
  }

  async function callModel(prompt: ModelPrompt, signal: AbortSignal): Promise<string> {
    if (breaker.isCoolingDown(breakerName))
      throw unavailable('The judge has failed several times and is disabled for a while.')
    const found = await parts.findModel()
    if (!found) throw unavailable('The model of the judge is not in the catalogue.')
    const { model } = found
    const expected = expectedUsage(prompt)
    const settle = await budget.reserve(usdOf(expected, model.price))
    if (!settle) throw unavailable('The daily budget of the judge is exhausted.')
    const report = startReport(prompt, clock)
    let spent = 0
    let answered: AnsweredModel | undefined
    try {
      const request = requestOf(prompt, model.name)
      const call = { operation: chatOperation, request, requestId: ids('req'), signal, ...report.hooks }
      await using started = await start(found, {
        ...call,
        outputLimit: { tokens: prompt.maxOutputTokens, isExplicit: true },
      })
      spent = usdOf(expected, model.price) // from here on the upstream charges for the call
      const { text, usage, reported } = await readAnswer(started.chunks, prompt.maxOutputTokens)
      spent = usdOf(usage, model.price)
      answered = { upstream: report.target()?.upstream ?? '', model: reported }
      parts.onUsage(usage, spent)
      report.ended({ usage })
      return text
    } catch (error) {
      report.ended({ failure: failureCode(signal.aborted ? signal.reason : error) })
      signal.throwIfAborted() // a timeout takes precedence over the error it caused
      throw error
    } finally {
      settle(spent)
      if (spent > 0 || answered) prompt.onSpent?.(spent, answered)
    }
  }

  /** Only upstream failures trip the judge's circuit breaker; otherwise three bad inputs could disable it for everyone. */
  async function start({ model, providers }: CalledModel, call: RoutedCall): Promise<StartedAnswer> {
    try {
      const started = await route({ ...parts, providers: translatedProviders(providers) }, model, call)
      breaker.succeeded(breakerName)
      return started
    } catch (error) {
      const cause: unknown = call.signal.aborted ? call.signal.reason : error
      if (isUpstreamFault(cause)) breaker.failed(breakerName)
      throw error
    }
  }
}

type Providers = RouteParts['providers']

/** The providers of an organization change seldom, so their translation is kept. */
function createTranslation(): (providers: Providers) => Providers {
  const known = new WeakMap<Providers, Providers>()
  return (providers) => {
    const all = known.get(providers) ?? new Map([...providers].map(([name, one]) => [name, translated(one)]))
    known.set(providers, all)
    return all
  }
}

type CallReport = {
  /** The target that was tried last. */
  readonly target: () => OwnModelCall['target'] | undefined
  readonly hooks: Pick<RoutedCall, 'onAttempt' | 'onDropped'>
  readonly ended: (outcome: Pick<OwnModelCall, 'usage' | 'failure'>) => void
}

/** Reports a call with the target that was tried last. A call that reached no upstream is not reported. */
function startReport({ onCalled }: ModelPrompt, clock: Clock): CallReport {
  const startedMs = clock.monotonicMs()
  let target: OwnModelCall['target'] | undefined
  return {
    target: () => target,
    hooks: {
      onDropped: () => {},
      onAttempt(attempted) {
        target = attempted
        return undefined
      },
    },
    ended(outcome) {
      if (target !== undefined) onCalled?.({ target, startedMs, endedMs: clock.monotonicMs(), ...outcome })
    },
  }
}

const failureCode = (error: unknown): string => (isFault(error) ? error.code : 'internal_error')

const breakerName = 'judge'
/** Time that a call may wait in the queue, in call timeouts. A long chat without cached results makes many calls at once. */
const queueTimeouts = 6

const unavailable = (message: string): Fault => new Fault('unavailable', 'unavailable', message)

/** Forces every upstream to encode the request itself, because the gateway has no raw body to pass through. */
const translated = (provider: Provider): Provider => ({
  ...provider,
  infer: (call) => {
    const raw = { ...call.request.raw, dialect: translatedFormat(provider) }
    return provider.infer({ ...call, request: { ...call.request, raw } })
  },
})

const requestOf = (
  { system, user, maxOutputTokens, temperature = 0 }: ModelPrompt,
  model: string,
): InferenceRequest => ({
  model,
  stream: false,
  messages: [
    { role: 'system', parts: [{ type: 'text', text: system }] },
    { role: 'user', parts: [{ type: 'text', text: user }] },
  ],
  maxOutputTokens,
  temperature,
  stop: [],
  tools: [],
  flaggedCategories: [],
  raw: { dialect: 'messages', body: {}, headers: {}, roles: noFieldRoles },
})

type ReadAnswer = { readonly text: string; readonly usage: Usage; readonly reported: string }

async function readAnswer(chunks: AsyncIterable<Chunk>, maxOutputTokens: number): Promise<ReadAnswer> {
  const events: InferenceEvent[] = []
  let length = 0
  for await (const chunk of chunks) {
    for (const event of chunk.events) if (event.type === 'delta') length += event.text.length
    if (length > maxOutputTokens * charactersPerToken) throw noAnswer('The response of the model is too long.')
    events.push(...chunk.events)
  }
  const { blocks, stopReason, end } = foldEvents(events)
  if (stopReason !== 'end') throw noAnswer(`The model stopped early: ${stopReason}.`)
  const start = events.find((event) => event.type === 'start')
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')
  return { text, usage: end.usage, reported: start?.model ?? '' }
}

const noAnswer = (message: string): Fault => new Fault('upstream_failed', 'upstream_error', message)

const expectedUsage = ({ system, user, maxOutputTokens }: ModelPrompt): Usage => ({
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
  const timeout = new AbortController()
  const reason = new Fault('upstream_timeout', 'upstream_timeout', 'The judge did not respond in time.')
  const cancel = clock.after(timeoutMs, () => timeout.abort(reason))
  return { signal: AbortSignal.any([caller, timeout.signal]), [Symbol.dispose]: cancel }
}
