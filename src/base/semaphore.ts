/** A few may work at once; the others wait, first come, first served. */
export type Semaphore = {
  /** Resolves when it is one's turn; disposing of it lets the next one in. Rejects with the signal's reason. */
  acquire(signal: AbortSignal): Promise<Disposable>
}

export function createSemaphore(most: number): Semaphore {
  const waiting = new Set<() => void>()
  let free = most

  const passOn = (): void => {
    free += 1
    const [next] = waiting
    if (next === undefined) return
    waiting.delete(next)
    next()
  }
  const begin = (): Disposable => {
    free -= 1
    let isOver = false
    return {
      [Symbol.dispose]() {
        if (!isOver) passOn()
        isOver = true
      },
    }
  }

  return {
    async acquire(signal) {
      signal.throwIfAborted()
      if (free > 0) return begin()
      return await new Promise((resolve, reject) => {
        const go = (): void => {
          signal.removeEventListener('abort', leave)
          resolve(begin())
        }
        const leave = (): void => {
          waiting.delete(go)
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
        }
        waiting.add(go)
        signal.addEventListener('abort', leave, { once: true })
      })
    },
  }
}
