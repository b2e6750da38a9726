import type { Clock } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import type { Semaphore } from '../../../base/semaphore.ts'
import type { UpstreamHealth } from '../../../domain/inference/health.ts'
import { type Classification, type Classifier, flagThreshold } from '../../../domain/scan/classify/classifier.ts'
import type { ReceivedResponse, SendRequest } from '../../network/request.ts'
import { categories, perCategory, type Category, type PerCategory } from '../../../domain/scan/classify/categories.ts'
import type { ModerationCategory } from '../../../wire/openai-moderations.ts'

export type OpenaiClassifierSettings = {
  readonly baseUrl: string
  /** Read for every call, because it may change while the service runs. */
  readonly apiKey: () => string | undefined
  readonly model: string
  readonly timeoutMs: number
}

export type OpenaiClassifierParts = {
  readonly request: SendRequest
  readonly clock: Clock
  /** Limits concurrent calls. */
  readonly semaphore: Semaphore
  /** Circuit breaker: after several failures the endpoint is not called for a while. */
  readonly health: UpstreamHealth
}

const maxResponseBytes = 64 * 1024

/** A remote endpoint with OpenAI's moderation API. Calls are not retried, because the embedded classifier already has a result. */
export function createOpenaiClassifier(settings: OpenaiClassifierSettings, parts: OpenaiClassifierParts): Classifier {
  const { request, clock, semaphore, health } = parts
  const { baseUrl, apiKey, model, timeoutMs } = settings
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/moderations`)

  async function send(text: string, signal: AbortSignal): Promise<ReceivedResponse> {
    using _slot = await semaphore.acquire(signal)
    const body = JSON.stringify({ model, input: text.toWellFormed() })
    const key = apiKey()
    const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
    const headers = { 'content-type': 'application/json', ...authorization }
    return await request({ method: 'POST', url, headers, body, signal, maxResponseBytes })
  }

  /** Only failures of the endpoint trip the circuit breaker; otherwise a few bad texts could disable it for everyone. */
  async function call(text: string): Promise<ReceivedResponse> {
    const late = new AbortController()
    const cancel = clock.after(timeoutMs, () => late.abort(failed('it did not answer in time')))
    try {
      const answer = await send(text, late.signal)
      if (answer.status === 429 || answer.status >= 500) throw failed(`it answered with status ${answer.status}`)
      health.succeeded(url.host)
      return answer
    } catch (cause) {
      health.failed(url.host)
      late.signal.throwIfAborted()
      throw cause instanceof Fault ? cause : failed('it could not be reached', cause)
    } finally {
      cancel()
    }
  }

  return {
    identity: { id: 'openai', version: model, digest: '' },
    async classify(text) {
      if (health.isCoolingDown(url.host)) throw failed('it failed several times and is in cooldown')
      const { status, body } = await call(text)
      if (status !== 200) throw failed(`it answered with status ${status}`)
      return readAnswer(body)
    },
  }
}

function readAnswer(body: Buffer): Classification {
  try {
    return readClassification(JSON.parse(body.toString('utf8')))
  } catch (cause) {
    throw failed('its response is not valid', cause)
  }
}

const failed = (reason: string, cause?: unknown): Fault =>
  new Fault('unavailable', 'unavailable', `The second classifier failed: ${reason}.`, { cause })

/** The vendor's categories for each category of the gateway. Violence has no counterpart. */
const vendorNames: PerCategory<readonly ModerationCategory[]> = {
  'self-harm': ['self-harm', 'self-harm/intent', 'self-harm/instructions'],
  'sexual/minors': ['sexual/minors'],
  harassment: ['harassment', 'harassment/threatening'],
  hate: ['hate', 'hate/threatening'],
  illicit: ['illicit', 'illicit/violent'],
  sexual: ['sexual'],
}

/** Decodes the response for one input. Throws if a category is missing. */
function readClassification(answer: unknown): Classification {
  const result = firstOf(fieldOf(answer, 'results'))
  const flags = fieldOf(result, 'categories')
  const given = fieldOf(result, 'category_scores')
  const flagged = categories.filter((category) => isFlagged(category, flags))
  const scores = perCategory((category) => {
    const score = Math.max(...vendorNames[category].map((name) => scoreOf(given, name)))
    if (score < 0) throw new Error(`no score for ${category}`)
    // The vendor's scale differs: what it flags scores at least 0.5, anything else less.
    return flagged.includes(category) ? Math.max(score, flagThreshold) : Math.min(score, flagThreshold - 0.01)
  })
  return { scores, flagged }
}

const isFlagged = (category: Category, flags: unknown): boolean =>
  vendorNames[category].some((name) => fieldOf(flags, name) === true)

/** Negative if missing: older models do not have the finer categories. */
function scoreOf(scores: unknown, name: string): number {
  const score = fieldOf(scores, name)
  return typeof score === 'number' && score >= 0 && score <= 1 ? score : -1
}

function firstOf(list: unknown): unknown {
  if (Array.isArray(list) && list.length === 1) return list[0]
  throw new Error('not one result')
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value === 'object' && value !== null)
    return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
  throw new Error(`no ${name}`)
}
