import { Worker } from 'node:worker_threads'
import type { Clock } from '../../base/clock.ts'
import { createFairQueue } from '../../base/fair-queue.ts'
import type { ExpressionResult } from '../../domain/policy/expression.ts'
import type { RuleFacts } from '../../domain/policy/rule.ts'
import type { ThreadReply, ThreadRequest } from './worker.ts'

export type ExpressionEvaluation = {
  readonly expression: string
  readonly facts: RuleFacts
  /** Organizations are served in round-robin order. */
  readonly organizationId: string
}

/** A worker thread for evaluations that are too expensive for the request thread. */
export type ExpressionThread = AsyncDisposable & {
  /** Never rejects. */
  evaluate(evaluation: ExpressionEvaluation): Promise<ExpressionResult>
}

export type ThreadParts = {
  readonly clock: Clock
  /** CPU time limit of one evaluation. */
  readonly limitMs: number
}

/** An idle thread is stopped to free its memory. */
const idleMs = 10 * 60_000
const resourceLimits = { maxOldGenerationSizeMb: 256 }

type Job = ExpressionEvaluation & { readonly settle: (result: ExpressionResult) => void }

type Running = {
  readonly worker: Worker
  isReady: boolean
  cpuMs: number
  job: Job | undefined
  facts: RuleFacts | undefined
}

export function createExpressionThread({ clock, limitMs }: ThreadParts): ExpressionThread {
  const queue = createFairQueue<Job>(Infinity)
  let running: Running | undefined
  let cancelTimer = (): void => {}

  const start = (): Running => {
    const worker = new Worker(new URL('worker.ts', import.meta.url), { resourceLimits })
    const started: Running = { worker, isReady: false, cpuMs: 0, job: undefined, facts: undefined }
    worker.on('message', (answer: ThreadReply) => onAnswer(started, answer))
    worker.on('error', () => onBroken(started))
    worker.unref()
    return started
  }

  const onAnswer = (thread: Running, { result, cpuMs }: ThreadReply): void => {
    thread.isReady = true
    thread.cpuMs = cpuMs
    if (result !== undefined) thread.job?.settle(result)
    thread.job = undefined
    next()
  }

  const onBroken = (thread: Running): void => {
    // If the thread could not start, it would not start for the next job either.
    if (!thread.isReady) failAll()
    end(thread, 'expression_error')
  }

  const failAll = (): void => {
    for (let job = nextJob(); job !== undefined; job = nextJob()) job.settle({ failed: 'expression_error' })
  }

  const nextJob = (): Job | undefined => {
    const job = queue.next()
    if (job !== undefined) queue.remove(job.organizationId, job)
    return job
  }

  const next = (): void => {
    if (running?.job !== undefined) return
    cancelTimer()
    if (queue.isEmpty()) return void (cancelTimer = clock.after(idleMs, () => void stop()))
    running ??= start()
    const job = running.isReady ? nextJob() : undefined
    if (job === undefined) return
    const { expression, facts } = job
    const question: ThreadRequest = { expression, facts: facts === running.facts ? undefined : facts }
    running.worker.postMessage(question)
    running.job = job
    running.facts = facts
    watch(running, limitMs)
  }

  const watch = (thread: Running, leftMs: number): void => {
    const { job } = thread
    const check = async (): Promise<void> => {
      const usedMs = await usedBy(thread)
      if (thread !== running || thread.job !== job) return
      if (usedMs >= limitMs) end(thread, 'expression_time')
      else watch(thread, Math.max(1, limitMs - usedMs))
    }
    cancelTimer = clock.after(leftMs, () => void check())
  }

  const end = (thread: Running, why: string): void => {
    if (thread !== running) return
    running = undefined
    cancelTimer()
    void thread.worker.terminate()
    thread.job?.settle({ failed: why })
    next()
  }

  const stop = async (): Promise<void> => {
    cancelTimer()
    const ending = running
    running = undefined
    ending?.job?.settle({ failed: 'expression_error' })
    failAll()
    await ending?.worker.terminate()
  }

  return {
    evaluate: (evaluation) =>
      new Promise((settle) => {
        const job = { ...evaluation, settle }
        queue.add(job.organizationId, job)
        next()
      }),
    [Symbol.asyncDispose]: stop,
  }
}

/** CPU time of the job instead of elapsed time, because on a busy machine the thread has to wait. */
async function usedBy({ worker, cpuMs }: Running): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage()
    return (user + system) / 1000 - cpuMs
  } catch {
    return 0 // the thread has ended; its `error` event handles that
  }
}
