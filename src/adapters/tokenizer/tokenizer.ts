import { Worker } from 'node:worker_threads'
import type { Clock } from '../../base/clock.ts'
import { estimateTokens, type CountTexts, type TextCount } from '../../domain/inference/count.ts'
import { createFairQueue } from '../../base/fair-queue.ts'
import { planCount, type CountPlan } from './slices.ts'

/** The vocabulary takes 70 MB, so an idle thread is stopped. */
const idleMs = 60_000
/** Further concurrent calls of one caller are estimated by length, which takes no time of the thread. */
const maxJobsPerCaller = 16

export type Tokenizer = AsyncDisposable & { readonly count: CountTexts }

type Job = CountPlan & {
  readonly caller: string
  readonly result: PromiseWithResolvers<TextCount>
  sliceAt: number
  tokens: number
}

/**
 * Counts tokens with the o200k vocabulary in a worker thread, so that a long text cannot block the service. The thread gets one
 * slice at a time and callers are served in round-robin order, so that long texts of one caller do not delay another.
 */
export function createTokenizer(clock: Clock): Tokenizer {
  const queue = createFairQueue<Job>(maxJobsPerCaller)
  let worker: Worker | undefined
  let current: Job | undefined
  let cancelIdle = (): void => {}

  const start = (): Worker => {
    const started = new Worker(new URL('worker.ts', import.meta.url))
    started.on('message', (tokens: number) => onCounted(tokens))
    started.on('error', (error) => onFailed(error))
    started.unref()
    return started
  }
  const run = (): void => {
    if (current !== undefined) return
    cancelIdle()
    current = queue.next()
    if (current === undefined) return void (cancelIdle = clock.after(idleMs, () => void stop()))
    worker ??= start()
    worker.postMessage(current.slices[current.sliceAt] ?? [])
  }
  const onCounted = (tokens: number): void => {
    const job = current
    current = undefined
    if (job !== undefined) {
      job.tokens += tokens
      job.sliceAt += 1
      if (job.sliceAt >= job.slices.length) finish(job)
    }
    run()
  }
  const finish = (job: Job): void => {
    queue.remove(job.caller, job)
    job.result.resolve({ tokens: Math.ceil(job.tokens * job.scale), method: job.scale === 1 ? 'whole' : 'sample' })
  }
  const onFailed = (error: unknown): void => {
    worker = undefined
    current = undefined
    for (let job = queue.next(); job !== undefined; job = queue.next()) {
      queue.remove(job.caller, job)
      job.result.reject(error)
    }
  }
  const stop = async (): Promise<void> => {
    cancelIdle()
    const ending = worker
    worker = undefined
    await ending?.terminate()
  }

  return {
    async count(texts, { queueKey: caller, signal }) {
      const job: Job = { ...planCount(texts), caller, result: Promise.withResolvers(), sliceAt: 0, tokens: 0 }
      if (signal?.aborted === true || !queue.add(caller, job)) return countByLength(texts)
      // The count of a caller who has left is not used; removing the job stops the counting.
      const leave = (): void => {
        queue.remove(caller, job)
        job.result.resolve(countByLength(texts))
      }
      signal?.addEventListener('abort', leave)
      run()
      return await job.result.promise.finally(() => signal?.removeEventListener('abort', leave))
    },
    [Symbol.asyncDispose]: stop,
  }
}

const countByLength = (texts: readonly string[]): TextCount => ({
  tokens: texts.reduce((sum, text) => sum + estimateTokens(text), 0),
  method: 'length',
})
