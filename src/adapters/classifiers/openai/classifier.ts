import type { Clock } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import type { Turns } from '../../../base/turns.ts'
import type { UpstreamHealth } from '../../../domain/inference/health.ts'
import type { Classifier } from '../../../domain/moderation/classifier.ts'
import type { Request } from '../../network/request.ts'
import { readClassification } from './answer.ts'

export type OpenaiClassifierSettings = {
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly model: string
  readonly timeoutMs: number
}

export type OpenaiClassifierParts = {
  readonly request: Request
  readonly clock: Clock
  /** Calls under way at once. */
  readonly turns: Turns
  /** One that failed again and again is left alone for a while, so that nobody waits for it in vain. */
  readonly health: UpstreamHealth
}

const maxAnswerBytes = 64 * 1024

/** A moderation endpoint that speaks OpenAI's dialect. Asked once, never again: whoever asks has a verdict without it. */
export function createOpenaiClassifier(settings: OpenaiClassifierSettings, parts: OpenaiClassifierParts): Classifier {
  const { request, clock, turns, health } = parts
  const { baseUrl, apiKey, model, timeoutMs } = settings
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/moderations`)
  const headers = {
    'content-type': 'application/json',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  }

  async function ask(text: string, signal: AbortSignal): Promise<unknown> {
    using _turn = await turns.take(signal)
    const body = JSON.stringify({ model, input: text.toWellFormed() })
    const answer = await request({ method: 'POST', url, headers, body, signal, maxAnswerBytes })
    if (answer.status !== 200) throw failed(`it answered with status ${answer.status}`)
    return JSON.parse(answer.body.toString('utf8'))
  }

  return {
    identity: { id: 'openai', version: model, digest: '' },
    async classify(text) {
      if (health.isResting(url.host)) throw failed('it has failed several times and is left alone for a while')
      const late = new AbortController()
      const cancel = clock.after(timeoutMs, () => late.abort(failed('it did not answer in time')))
      try {
        const classification = readClassification(await ask(text, late.signal))
        health.succeeded(url.host)
        return classification
      } catch (cause) {
        health.failed(url.host)
        throw cause instanceof Fault ? cause : failed('it gave no answer that can be read', cause)
      } finally {
        cancel()
      }
    },
  }
}

const failed = (why: string, cause?: unknown): Fault =>
  new Fault('unavailable', 'unavailable', `The second classifier has not judged: ${why}.`, { cause })
