import type { TestContext } from 'node:test'
import type { SinkParts } from '../../src/adapters/sinks/define.ts'
import type { Clock } from '../../src/base/clock.ts'
import { testTimeMs } from './audit-documents.ts'
import { loopbackRequest } from './receiver.ts'

export type TestClock = Clock & { readonly waits: number[] }

/** A clock that stands still until a timer is set, and then jumps to it. */
export function jumpingClock(startMs = testTimeMs + 1_000): TestClock {
  let nowMs = startMs
  const waits: number[] = []
  return {
    waits,
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(delayMs, callback) {
      waits.push(delayMs)
      nowMs += delayMs
      const handle = setImmediate(callback)
      return () => clearImmediate(handle)
    },
  }
}

type Chosen = { readonly clock?: Clock; readonly routes?: Readonly<Record<string, string>> }

export function sinkParts(t: TestContext, { clock = jumpingClock(), routes = {} }: Chosen = {}): SinkParts {
  return {
    request: loopbackRequest(t, routes),
    clock,
    random: { bytes: (count) => new Uint8Array(count).fill(0xab), fraction: () => 0.5 },
    instance: 'gateway-1',
  }
}

/** The kinds of outcomes, counted: `{ delivered: 9, reject: 1 }`. */
export function tally(outcomes: readonly { readonly kind: string }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind } of outcomes) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
