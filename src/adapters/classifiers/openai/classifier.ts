import type { Clock } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import type { Semaphore } from '../../../base/semaphore.ts'
import type { UpstreamHealth } from '../../../domain/inference/health.ts'
import type { Classification, Classifier } from '../../../domain/moderation/classifier.ts'
import type { ReceivedResponse, SendRequest } from '../../network/request.ts'
import { readClassification } from './answer.ts'

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
