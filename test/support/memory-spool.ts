import type { Spool } from '../../src/base/spool.ts'

/** A spool in memory. */
export function createMemorySpool<T>(idOf: (item: T) => string, left: readonly T[] = []): Spool<T> {
  const kept = new Map(left.map((item) => [idOf(item), item]))
  return {
    append: async (items) => items.forEach((item) => kept.set(idOf(item), item)),
    read: async (limit) => [...kept.values()].slice(0, limit),
    remove: async (items) => items.forEach((item) => kept.delete(idOf(item))),
    count: async () => kept.size,
    async [Symbol.asyncDispose]() {},
  }
}
