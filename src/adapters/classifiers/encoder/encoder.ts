import type { Clock } from '../../../base/clock.ts'
import type { Category, PerCategory } from '../../../domain/moderation/categories.ts'
import { EncoderUnavailable, type Encoder } from '../../../domain/moderation/encoder.ts'
import { loadModel } from '../embedded/classifier.ts'
import {
  describePackage,
  isProblem,
  shippedPackage,
  type EncoderDescription,
  type EncoderProblem,
} from './encoder-package.ts'
import { startEncoderThread, type EncoderStatus, type EncoderThread } from './thread.ts'
import type { EncoderThreadAnswer, EncoderThreadRequest } from './worker.ts'

export type EncoderParts = {
  readonly clock: Clock
  /** The package with the model. A test passes the address of a module of its own. */
  readonly packageName?: string
  /** How much text may wait, with the text that the thread reads. Further texts are rejected. */
  readonly maxQueuedCharacters?: number
  /** Called with the time that the thread needed for a text. */
  readonly onScored?: (durationMs: number) => void
  /** Called when the status changes. `cause` says why a thread has ended. */
  readonly onStatus?: (status: EncoderStatus, cause?: string) => void
}

/** The encoder in a worker thread. Disposing of it rejects all texts and ends the thread. */
export type ThreadedEncoder = Encoder &
  AsyncDisposable &
  Pick<EncoderThread, 'status' | 'started'> & {
    /** Texts that wait, with the one that the thread reads. */
    queued(): number
  }

export type OpenedEncoder = { readonly encoder: ThreadedEncoder } | { readonly problem: EncoderProblem }

/** About half a second of work, so that a streamed text gets its answer beside long requests. */
const defaultQueuedCharacters = 16 * 1024

/** Finds the package and starts the thread, or says why not. The model is loaded in the background; until then texts are rejected. */
export async function openEncoder(parts: EncoderParts): Promise<OpenedEncoder> {
  const described = await describePackage(parts.packageName ?? shippedPackage)
  return isProblem(described) ? { problem: described } : { encoder: createThreadedEncoder(described, parts) }
}

type Job = EncoderThreadRequest & { readonly result: PromiseWithResolvers<PerCategory<number>> }

function createThreadedEncoder(description: EncoderDescription, parts: EncoderParts): ThreadedEncoder {
  const { version, digest, stack, windowTokens, strideTokens } = description
  const { clock, packageName = shippedPackage, maxQueuedCharacters = defaultQueuedCharacters, onScored } = parts
  const waiting = new Set<Job>()
  let running: Job | undefined
  let characters = 0
  let lastId = 0

  const thread = startEncoderThread({
    clock,
    options: { packageName, digest, vocabulary: loadModel().vocabulary, windowTokens, strideTokens },
    onAnswer(answer) {
      const job = running
      running = undefined
      if (job !== undefined) settle(job, answer)
      next()
    },
    onStatus(status, cause) {
      if (status.state !== 'ready') rejectAll(unavailable(status, cause))
      parts.onStatus?.(status, cause)
    },
  })

  function settle(job: Job, answer: EncoderThreadAnswer): void {
    characters -= job.text.length
    if (answer.kind === 'cancelled') return
    const logits = answer.kind === 'scored' ? perCategoryOf(answer.logits) : undefined
    if (logits === undefined) return job.result.reject(new EncoderUnavailable('failed', messageOf(answer)))
    if (answer.kind === 'scored') onScored?.(answer.durationMs)
    job.result.resolve(logits)
  }

  function next(): void {
    const [job] = waiting
    if (running !== undefined || job === undefined) return
    waiting.delete(job)
    running = job
    thread.send({ id: job.id, text: job.text })
  }

  function rejectAll(error: EncoderUnavailable): void {
    for (const job of running === undefined ? waiting : [running, ...waiting]) job.result.reject(error)
    waiting.clear()
    running = undefined
    characters = 0
  }

  /** A text that waits is removed. The thread stops reading one at its next window. */
  function leave(job: Job, reason: unknown): void {
    if (waiting.delete(job)) characters -= job.text.length
    else if (job === running) thread.cancel(job.id)
    job.result.reject(reason)
  }

  return {
    identity: { id: 'encoder', version, digest },
    stack,
    status: thread.status,
    started: thread.started,
    queued: () => waiting.size + (running === undefined ? 0 : 1),
    async score(text, signal) {
      signal?.throwIfAborted()
      const status = thread.status()
      if (status.state !== 'ready') throw unavailable(status)
      if (characters + text.length > maxQueuedCharacters)
        throw new EncoderUnavailable('busy', 'Too much text waits for the encoder.')
      lastId = (lastId % 0x7fff_ffff) + 1
      const job: Job = { id: lastId, text, result: Promise.withResolvers() }
      const onAbort = (): void => leave(job, signal?.reason)
      signal?.addEventListener('abort', onAbort)
      waiting.add(job)
      characters += text.length
      next()
      return await job.result.promise.finally(() => signal?.removeEventListener('abort', onAbort))
    },
    [Symbol.asyncDispose]: thread.close,
  }
}

function unavailable(status: EncoderStatus, cause = 'it is started again after a pause'): EncoderUnavailable {
  if (status.state === 'off') return new EncoderUnavailable('off', status.problem.message)
  if (status.state === 'closed') return new EncoderUnavailable('closed', 'The encoder is closed.')
  return status.state === 'starting'
    ? new EncoderUnavailable('starting', 'The encoder is loading its model.')
    : new EncoderUnavailable('died', `The thread of the encoder has ended: ${cause}.`)
}

/** The order of the model's outputs. The last one, `any`, is not used. */
const outputs: readonly Category[] = ['sexual', 'hate', 'harassment', 'self-harm', 'illicit', 'sexual/minors']

/** Undefined if a number is missing. */
function perCategoryOf(logits: readonly number[]): PerCategory<number> | undefined {
  if (logits.length !== outputs.length + 1 || !logits.every(Number.isFinite)) return undefined
  return Object.fromEntries(outputs.map((category, at) => [category, logits[at]])) as PerCategory<number>
}

const messageOf = (answer: EncoderThreadAnswer): string =>
  answer.kind === 'failed' ? answer.message : 'The model gave other outputs than seven numbers.'
