import type { Clock } from '../../../base/clock.ts'
import type { Category, PerCategory } from '../../../domain/scan/classify/categories.ts'
import { EncoderUnavailable, type Encoder, type EncoderQuestion } from '../../../domain/scan/classify/encoder.ts'
import { loadModel } from '../embedded/classifier.ts'
import {
  describePackage,
  isProblem,
  shippedPackage,
  type EncoderDescription,
  type EncoderProblem,
} from './encoder-package.ts'
import { createCpuShare } from './cpu-share.ts'
import { startEncoderThread, type EncoderStatus, type EncoderThread } from './thread.ts'
import { createWaitingTexts } from './waiting-texts.ts'
import type { EncoderThreadAnswer, EncoderThreadRequest } from './worker.ts'

export type EncoderParts = {
  readonly clock: Clock
  /** The package with the model. A test passes the address of a module of its own. */
  readonly packageName?: string
  /** How much text may wait. Further texts are rejected. */
  readonly maxQueuedCharacters?: number
  /** The share of one processor core that it may use; without it all. */
  readonly cpuPercent?: number
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

/** Finds the package, or says why not. The first text loads the model in the background; until then texts are rejected. */
export async function openEncoder(parts: EncoderParts): Promise<OpenedEncoder> {
  const described = await describePackage(parts.packageName ?? shippedPackage)
  return isProblem(described) ? { problem: described } : { encoder: createThreadedEncoder(described, parts) }
}

type Job = EncoderThreadRequest & {
  readonly question: EncoderQuestion
  readonly result: PromiseWithResolvers<PerCategory<number>>
}

function createThreadedEncoder(description: EncoderDescription, parts: EncoderParts): ThreadedEncoder {
  const { version, digest, stack, windowTokens, strideTokens } = description
  const { clock, packageName = shippedPackage, maxQueuedCharacters = defaultQueuedCharacters, onScored } = parts
  const waiting = createWaitingTexts<Job>(maxQueuedCharacters)
  const share = createCpuShare(clock, parts.cpuPercent ?? 100)
  let running: Job | undefined
  let lastId = 0

  let thread: EncoderThread | undefined
  let isClosed = false

  const startedThread = (): EncoderThread =>
    (thread ??= startEncoderThread({
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
    }))
  const statusNow = (): EncoderStatus => thread?.status() ?? { state: isClosed ? 'closed' : 'idle' }

  function settle(job: Job, answer: EncoderThreadAnswer): void {
    if (answer.kind === 'cancelled') return
    const logits = answer.kind === 'scored' ? perCategoryOf(answer.logits) : undefined
    if (logits === undefined) return job.result.reject(new EncoderUnavailable('failed', messageOf(answer)))
    if (answer.kind === 'scored') {
      share.use(answer.durationMs)
      onScored?.(answer.durationMs)
    }
    job.result.resolve(logits)
  }

  function next(): void {
    if (running !== undefined) return
    running = waiting.take()
    if (running !== undefined) thread?.send({ id: running.id, text: running.text })
  }

  function rejectAll(error: EncoderUnavailable): void {
    running?.result.reject(error)
    running = undefined
    for (const job of waiting.clear()) job.result.reject(error)
  }

  /** A text that waits is removed. The thread stops reading one at its next window. */
  function leave(job: Job, reason: unknown): void {
    if (!waiting.remove(job) && job === running) thread?.cancel(job.id)
    job.result.reject(reason)
  }

  return {
    identity: { id: 'encoder', version, digest },
    stack,
    status: statusNow,
    started: async () => (isClosed ? statusNow() : startedThread().started()),
    queued: () => waiting.size() + (running === undefined ? 0 : 1),
    async score(text, question = unnamedQuestion, signal) {
      signal?.throwIfAborted()
      if (!isClosed) startedThread()
      const status = statusNow()
      if (status.state !== 'ready') throw unavailable(status)
      if (!share.hasLeft(question.isUrgent))
        throw new EncoderUnavailable('over_share', 'The encoder has used its share of the processor.')
      lastId = (lastId % 0x7fff_ffff) + 1
      const job: Job = { id: lastId, text, question, result: Promise.withResolvers() }
      if (!waiting.add(job)) throw new EncoderUnavailable('busy', 'Too much text waits for the encoder.')
      const onAbort = (): void => leave(job, signal?.reason)
      signal?.addEventListener('abort', onAbort)
      next()
      return await job.result.promise.finally(() => signal?.removeEventListener('abort', onAbort))
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      await thread?.close()
    },
  }
}

const unnamedQuestion: EncoderQuestion = { isUrgent: false, organizationId: '' }

function unavailable(status: EncoderStatus, cause = 'it is started again after a pause'): EncoderUnavailable {
  if (status.state === 'off') return new EncoderUnavailable('off', status.problem.message)
  if (status.state === 'closed') return new EncoderUnavailable('closed', 'The encoder is closed.')
  return status.state === 'starting' || status.state === 'idle'
    ? new EncoderUnavailable('starting', 'The encoder is loading its model.')
    : new EncoderUnavailable('died', `The thread of the encoder has ended: ${cause}.`)
}

/** The order of the model's outputs. Further outputs are not used: `any`, and in newer models `prompt_injection`. */
const outputs: readonly Category[] = ['sexual', 'hate', 'harassment', 'self-harm', 'illicit', 'sexual/minors']

/** Undefined if a number is missing. */
function perCategoryOf(logits: readonly number[]): PerCategory<number> | undefined {
  if (logits.length < outputs.length || !logits.every(Number.isFinite)) return undefined
  return Object.fromEntries(outputs.map((category, at) => [category, logits[at]])) as PerCategory<number>
}

const messageOf = (answer: EncoderThreadAnswer): string =>
  answer.kind === 'failed' ? answer.message : 'The model gave other outputs than a number for each category.'
