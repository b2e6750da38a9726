import { Worker } from 'node:worker_threads'
import type { Clock } from '../../base/clock.ts'
import type { CountTexts } from '../../domain/inference/count.ts'

/** The vocabulary takes 70 MB: the thread lives only while somebody counts. */
const idleMs = 60_000

export type Tokenizer = AsyncDisposable & { readonly count: CountTexts }

/** Counts with the o200k vocabulary in a thread of its own, so that no long text can stop the service. */
export function createTokenizer(clock: Clock): Tokenizer {
  const waiting = new Map<number, PromiseWithResolvers<number>>()
  let worker: Worker | undefined
  let lastId = 0
  let cancelIdle = (): void => {}

  const start = (): Worker => {
    const made = new Worker(new URL('worker.ts', import.meta.url))
    made.on('message', ({ id, count }: { id: number; count: number }) => settle(id, (call) => call.resolve(count)))
    made.on('error', (error) => failAll(error))
    made.unref()
    return made
  }
  const settle = (id: number, how: (call: PromiseWithResolvers<number>) => void): void => {
    const call = waiting.get(id)
    waiting.delete(id)
    if (call) how(call)
    if (waiting.size === 0) cancelIdle = clock.after(idleMs, () => void stop())
  }
  const failAll = (error: unknown): void => {
    worker = undefined
    for (const id of waiting.keys()) settle(id, (call) => call.reject(error))
  }
  const stop = async (): Promise<void> => {
    cancelIdle()
    const ending = worker
    worker = undefined
    await ending?.terminate()
  }

  return {
    count(texts) {
      cancelIdle()
      worker ??= start()
      const call = Promise.withResolvers<number>()
      waiting.set(++lastId, call)
      worker.postMessage({ id: lastId, texts })
      return call.promise
    },
    [Symbol.asyncDispose]: stop,
  }
}
