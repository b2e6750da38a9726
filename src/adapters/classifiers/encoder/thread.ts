import { SHARE_ENV, Worker } from 'node:worker_threads'
import type { Clock } from '../../../base/clock.ts'
import { textOf, type EncoderProblem } from './encoder-package.ts'
import { everyText, sharedAt } from './shared-memory.ts'
import type { EncoderThreadAnswer, EncoderThreadOptions, EncoderThreadReply, EncoderThreadRequest } from './worker.ts'

/** `starting`: the model is being loaded. `restarting`: the thread has ended and is started again after a pause. */
export type EncoderStatus =
  | { readonly state: 'starting' | 'ready' | 'restarting' | 'closed' }
  | { readonly state: 'off'; readonly problem: EncoderProblem }

/** Keeps one worker thread running. A thread that ends is started again, unless it said why it cannot work. */
export type EncoderThread = {
  status(): EncoderStatus
  /** Resolves once the model is loaded, or cannot be. */
  started(): Promise<EncoderStatus>
  /** Sends a text to a thread that is ready and has answered the last one. */
  send(request: EncoderThreadRequest): void
  /** Ends the thread. Resolves when it has ended. */
  close(): Promise<void>
}

export type EncoderThreadParts = {
  readonly clock: Clock
  readonly options: EncoderThreadOptions
  readonly onAnswer: (answer: EncoderThreadAnswer) => void
  /** Called on every change; a text that was sent has no answer any more, unless the state is `ready`. */
  readonly onStatus: (status: EncoderStatus, cause?: string) => void
}

const shortestPauseMs = 1_000
const longestPauseMs = 60_000
/** Loading the model takes under a second, and a window a tenth of that. A busy machine may need longer. */
const longestNativeMs = 30_000

export function startEncoderThread({ clock, options, onAnswer, onStatus }: EncoderThreadParts): EncoderThread {
  const started = Promise.withResolvers<EncoderStatus>()
  const { shared } = options
  let status: EncoderStatus = { state: 'starting' }
  let pauseMs = shortestPauseMs
  let cancelRestart = (): void => {}
  let worker = start()
  process.once('exit', waitForNativeCode)

  function start(): Worker {
    const thread = new Worker(new URL('./worker.ts', import.meta.url), {
      name: 'encoder',
      workerData: options,
      env: SHARE_ENV, // the package turns off the telemetry of the run time with a variable, which native code reads
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    })
    thread.on('message', onReply)
    thread.on('error', (error) => onEnd(thread, textOf(error)))
    thread.on('exit', (code) => onEnd(thread, `exit code ${code}`))
    return thread
  }

  function change(next: EncoderStatus, cause?: string): void {
    status = next
    if (next.state !== 'starting') started.resolve(next)
    onStatus(next, cause)
  }

  function onReply(reply: EncoderThreadReply): void {
    if (status.state === 'closed') return
    worker.unref() // an idle thread does not keep the process running
    if (reply.kind === 'problem') return change({ state: 'off', problem: reply.problem })
    if (reply.kind === 'ready') return change({ state: 'ready' })
    pauseMs = shortestPauseMs
    onAnswer(reply)
  }

  /** A thread that fails reports an error and then its exit; the second report is of no interest. */
  function onEnd(thread: Worker, cause: string): void {
    if (thread !== worker) return
    Atomics.store(shared, sharedAt.isNative, 0)
    Atomics.notify(shared, sharedAt.isNative)
    if (status.state !== 'starting' && status.state !== 'ready') return
    change({ state: 'restarting' }, cause)
    cancelRestart = clock.after(pauseMs, () => {
      worker = start()
      change({ state: 'starting' })
    })
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }

  /** Stopping a thread while native code runs would end the process with an error. At its exit nothing asynchronous runs any more. */
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
    },
    async close() {
      cancelRestart()
      if (status.state !== 'closed') change({ state: 'closed' })
      Atomics.store(shared, sharedAt.cancelled, everyText)
      worker.ref()
      await Atomics.waitAsync(shared, sharedAt.isNative, 1, longestNativeMs).value
      process.off('exit', waitForNativeCode)
      await worker.terminate()
    },
  }
}
