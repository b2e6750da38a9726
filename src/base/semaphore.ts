/** Limits how many callers work at once; the others wait in the order of their calls. */
export type Semaphore = {
  /** Resolves with a permit; disposing of it releases it. Rejects with the signal's reason. */
  acquire(signal: AbortSignal): Promise<Disposable>
}

export function createSemaphore(most: number): Semaphore {
  const waiting = new Set<() => void>()
  let free = most

  const release = (): void => {
    free += 1
    const [next] = waiting
    if (next === undefined) return
    waiting.delete(next)
    next()
  }
  const permit = (): Disposable => {
    free -= 1
    let isReleased = false
    return {
      [Symbol.dispose]() {
        if (!isReleased) release()
        isReleased = true
      },
    }
  }

  return {
    async acquire(signal) {
      signal.throwIfAborted()
      if (free > 0) return permit()
      return await new Promise((resolve, reject) => {
        const start = (): void => {
          signal.removeEventListener('abort', leave)
          resolve(permit())
        }
        const leave = (): void => {
          waiting.delete(start)
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
        }
        waiting.add(start)
        signal.addEventListener('abort', leave, { once: true })
      })
    },
  }
}
