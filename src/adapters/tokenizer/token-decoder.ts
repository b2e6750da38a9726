import { Worker } from 'node:worker_threads'
import type { Clock } from '../../base/clock.ts'
import type { DecodeTokens } from '../../domain/inference/embeddings.ts'

/** The vocabulary takes tens of megabytes, so an idle thread is stopped. */
const idleMs = 60_000

export type TokenDecoder = AsyncDisposable & { readonly decode: DecodeTokens }

type Waiting = PromiseWithResolvers<readonly (string | undefined)[]>

/** Decodes token ids in a worker thread, which starts with the first of them. */
export function createTokenDecoder(clock: Clock): TokenDecoder {
  let worker: Worker | undefined
  let waiting: Waiting[] = []
  let cancelIdle = (): void => {}

  const stop = async (): Promise<void> => {
    cancelIdle()
    const ending = worker
    worker = undefined
    await ending?.terminate()
  }
  const start = (): Worker => {
    const started = new Worker(new URL('decode-worker.ts', import.meta.url))
    // The thread answers in the order of the messages.
    started.on('message', (texts: readonly (string | undefined)[]) => {
      waiting.shift()?.resolve(texts)
      if (waiting.length === 0) cancelIdle = clock.after(idleMs, () => void stop())
    })
    started.on('error', (error) => {
      worker = undefined
      const failed = waiting
      waiting = []
      for (const { reject } of failed) reject(error)
    })
    started.unref()
    return started
  }
  return {
    decode(lists) {
      cancelIdle()
      worker ??= start()
      const result: Waiting = Promise.withResolvers()
      waiting.push(result)
      worker.postMessage(lists)
      return result.promise
    },
    [Symbol.asyncDispose]: stop,
  }
}
