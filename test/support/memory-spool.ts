import type { Spool } from '../../src/base/spool.ts'

/** A spool in memory. */
export function createMemorySpool<T>(idOf: (item: T) => string, left: readonly T[] = []): Spool<T> {
  const queue = new Map(left.map((item) => [idOf(item), item]))
  const setAside = new Map<string, T>()
  return {
    idOf,
    append: async (items) => items.forEach((item) => queue.set(idOf(item), item)),
    read: async (limit) => [...queue.values()].slice(0, limit),
    remove: async (items) => items.forEach((item) => queue.delete(idOf(item))),
    count: async () => queue.size,
    async setAside(item) {
      setAside.set(idOf(item), item)
      queue.delete(idOf(item))
    },
    async restoreSetAside() {
      for (const [id, item] of setAside) queue.set(id, item)
      setAside.clear()
    },
    async [Symbol.asyncDispose]() {},
  }
}
