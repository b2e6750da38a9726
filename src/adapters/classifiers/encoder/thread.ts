import { SHARE_ENV, Worker } from 'node:worker_threads'
import type { Clock } from '../../../base/clock.ts'
import { problem, textOf, type EncoderProblem } from './encoder-package.ts'
import { createSharedMemory, everyText, sharedAt } from './shared-memory.ts'
import type { EncoderThreadAnswer, EncoderThreadOptions, EncoderThreadReply, EncoderThreadRequest } from './worker.ts'

/** `idle`: no text needed the model so far. `starting`: the model is being loaded. `restarting`: the thread has ended or does not answer, and another is started after a pause. */
export type EncoderStatus =
  | { readonly state: 'idle' | 'starting' | 'ready' | 'restarting' | 'closed' }
  | { readonly state: 'off'; readonly problem: EncoderProblem }

/** Why an encoder that should have started cannot read texts. Undefined if it can. */
export function problemOf(status: EncoderStatus): EncoderProblem | undefined {
  if (status.state === 'ready') return undefined
  if (status.state === 'off') return status.problem
  return problem('not_started', `The thread of the encoder is ${status.state}: it ended before the model was loaded.`)
}

/** Keeps one worker thread running. A thread that ends or does not answer is replaced, unless it said why it cannot work. */
export type EncoderThread = {
  status(): EncoderStatus
  /** Resolves once the model is loaded, or cannot be. */
  started(): Promise<EncoderStatus>
  /** Sends a text to a thread that is ready and has answered the last one. */
  send(request: EncoderThreadRequest): void
  /** The thread stops reading this text at its next window. */
  cancel(id: number): void
  /** Ends the thread. Resolves when it has ended. */
  close(): Promise<void>
}

export type EncoderThreadParts = {
  readonly clock: Clock
  readonly options: Omit<EncoderThreadOptions, 'shared'>
  readonly onAnswer: (answer: EncoderThreadAnswer) => void
  /** Called on every change; a text that was sent gets no answer, unless the state is `ready`. */
  readonly onStatus: (status: EncoderStatus, cause?: string) => void
}

const shortestPauseMs = 1_000
const longestPauseMs = 60_000
/** A text takes half a second at most. A thread without an answer after this time is replaced. */
const longestAnswerMs = 10_000
/** A window takes a tenth of a second. Docker kills a process ten seconds after it asked it to end. */
const longestNativeMs = 5_000

export function startEncoderThread({ clock, options, onAnswer, onStatus }: EncoderThreadParts): EncoderThread {
  const started = Promise.withResolvers<EncoderStatus>()
  let status: EncoderStatus = { state: 'starting' }
  let pauseMs = shortestPauseMs
  let cancelRestart = (): void => {}
  let cancelWatch = (): void => {}
  /** Resolves when the thread that did not answer has ended. */
  let givenUp: Promise<unknown> | undefined
  let shared: EncoderThreadOptions['shared']
  let worker = start()
  process.once('exit', waitForNativeCode)

  const isRunning = (): boolean => status.state === 'starting' || status.state === 'ready'

  function start(): Worker {
    const memory = createSharedMemory()
    shared = memory
    const thread = new Worker(new URL('./worker.ts', import.meta.url), {
      name: 'encoder',
      workerData: { ...options, shared: memory },
      env: SHARE_ENV, // the package turns off the telemetry of the run time with a variable, which native code reads
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    })
    thread.on('message', (reply: EncoderThreadReply) => thread === worker && onReply(reply))
    thread.on('error', (error) => onEnd(thread, textOf(error)))
    thread.on('exit', (code) => {
      Atomics.store(memory, sharedAt.isNative, 0)
      Atomics.notify(memory, sharedAt.isNative)
      onEnd(thread, `exit code ${code}`)
    })
    return thread
  }

  function change(next: EncoderStatus, cause?: string): void {
    status = next
    if (next.state !== 'starting') started.resolve(next)
    onStatus(next, cause)
  }

  function onReply(reply: EncoderThreadReply): void {
    if (!isRunning()) return
    worker.unref() // an idle thread does not keep the process running
    if (reply.kind === 'problem') return change({ state: 'off', problem: reply.problem })
    if (reply.kind === 'ready') return change({ state: 'ready' })
    cancelWatch()
    pauseMs = shortestPauseMs
    onAnswer(reply)
  }

  /** A thread that fails reports an error and then its exit; the second report is of no interest. */
  function onEnd(thread: Worker, cause: string): void {
    if (thread !== worker || !isRunning()) return
    cancelWatch()
    change({ state: 'restarting' }, cause)
    restart()
  }

  function restart(): void {
    if (status.state !== 'restarting') return
    cancelRestart = clock.after(pauseMs, () => {
      worker = start()
      change({ state: 'starting' })
    })
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }

  /** Native code cannot be stopped, so a thread that does not return from it is left alone. There is at most one of these. */
  function onSilence(): void {
    change({ state: 'restarting' }, `it gave no answer for ${longestAnswerMs / 1_000} seconds`)
    const before = givenUp
    const ended = endAfterNativeCode(worker, shared)
    givenUp = before === undefined ? ended : Promise.all([before, ended])
    if (before === undefined) restart()
    else void before.then(restart)
  }

  /** Stopping a thread while native code runs would end the process with an error. At its exit nothing asynchronous runs. */
  function waitForNativeCode(): void {
    Atomics.store(shared, sharedAt.cancelled, everyText)
    Atomics.wait(shared, sharedAt.isNative, 1, longestNativeMs)
  }

  return {
    status: () => status,
    started: () => started.promise,
    send(request) {
      worker.ref()
      worker.postMessage(request)
      cancelWatch = clock.after(longestAnswerMs, onSilence)
    },
    cancel: (id) => void Atomics.store(shared, sharedAt.cancelled, id),
    async close() {
      cancelRestart()
      cancelWatch()
      if (status.state !== 'closed') change({ state: 'closed' })
      Atomics.store(shared, sharedAt.cancelled, everyText)
      worker.ref()
      await Atomics.waitAsync(shared, sharedAt.isNative, 1, longestNativeMs).value
      process.off('exit', waitForNativeCode)
      await worker.terminate()
    },
  }
}

async function endAfterNativeCode(worker: Worker, shared: EncoderThreadOptions['shared']): Promise<void> {
  worker.unref()
  Atomics.store(shared, sharedAt.cancelled, everyText)
  await Atomics.waitAsync(shared, sharedAt.isNative, 1).value
  await worker.terminate()
}
