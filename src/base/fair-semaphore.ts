/** Limits how many callers work at once, in total and of one group. The others wait; groups take turns, and callers of one group keep their order. */
export type FairSemaphore = {
  /** Resolves with a permit; disposing of it releases it. Rejects with `QueueFull`, or with the signal's reason. */
  acquire(group: string, signal: AbortSignal): Promise<Disposable>
  running(): number
  waiting(): number
}

export type FairSemaphoreLimits = {
  readonly most: number
  readonly mostOfGroup: number
  readonly mostWaitingOfGroup: number
}

/** The group already has the maximum of waiting callers. */
export class QueueFull extends Error {}

type Group = { running: number; readonly waiting: Set<() => void> }

export function createFairSemaphore({ most, mostOfGroup, mostWaitingOfGroup }: FairSemaphoreLimits): FairSemaphore {
  // A ring buffer: a group that was served is removed and appended at the end.
  const groups = new Map<string, Group>()
  let running = 0

  const groupOf = (name: string): Group => {
    const group = groups.get(name) ?? { running: 0, waiting: new Set() }
    groups.set(name, group)
    return group
  }
  const removeIfUnused = (name: string, group: Group): void => {
    if (group.running === 0 && group.waiting.size === 0) groups.delete(name)
  }

  const moveToEnd = (name: string, group: Group): void => {
    groups.delete(name)
    groups.set(name, group)
  }

  function start(name: string, group: Group): Disposable {
    running++
    group.running++
    moveToEnd(name, group)
    let isReleased = false
    return {
      [Symbol.dispose]() {
        if (isReleased) return
        isReleased = true
        running--
        group.running--
        moveToEnd(name, group) // others may have come after it since its start
        startNext()
        removeIfUnused(name, group)
      },
    }
  }

  function startNext(): void {
    for (const { running: runningOfGroup, waiting } of groups.values()) {
      const [next] = waiting
      if (next !== undefined && runningOfGroup < mostOfGroup) return next()
    }
  }

  function wait(name: string, group: Group, signal: AbortSignal): Promise<Disposable> {
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>()
    const begin = (): void => {
      group.waiting.delete(begin)
      signal.removeEventListener('abort', leave)
      resolve(start(name, group))
    }
    const leave = (): void => {
      group.waiting.delete(begin)
      removeIfUnused(name, group)
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    }
    group.waiting.add(begin)
    signal.addEventListener('abort', leave, { once: true })
    return promise
  }

  return {
    async acquire(name, signal) {
      signal.throwIfAborted()
      const group = groupOf(name)
      if (running < most && group.running < mostOfGroup) return start(name, group)
      if (group.waiting.size >= mostWaitingOfGroup) throw new QueueFull()
      return await wait(name, group, signal)
    },
    running: () => running,
    waiting: () => groups.values().reduce((sum, { waiting }) => sum + waiting.size, 0),
  }
}
