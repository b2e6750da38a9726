import type { Charge } from '../../src/domain/credits/charge.ts'
import type { Spool } from '../../src/domain/credits/spool.ts'

/** A spool that lives as long as the test. */
export function createMemorySpool(kept = new Map<string, Charge>()): Spool {
  return {
    append: async (charge) => void kept.set(charge.requestId, charge),
    read: async (limit) => [...kept.values()].slice(0, limit),
    remove: async (ids) => ids.forEach((id) => kept.delete(id)),
    count: async () => kept.size,
    async [Symbol.asyncDispose]() {},
  }
}
