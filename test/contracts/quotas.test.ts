import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isFault } from '../../src/base/fault.ts'
import { windowAt } from '../../src/domain/gateway-config/quota.ts'
import { engines } from '../support/engines.ts'
import { openScene, quotaContract } from './quotas.contract.ts'

for (const engine of engines) quotaContract(engine)

const step = fc.oneof(
  fc.record({
    do: fc.constant('take' as const),
    tokens: fc.nat(40),
    output: fc.nat(60),
    user: fc.constantFrom('ann', 'bob', undefined),
  }),
  fc.record({ do: fc.constant('settle' as const), which: fc.nat(20), tokens: fc.nat(60) }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 20_000, 60_000) }),
)
const limits = fc.record({ requests: fc.nat(6), tokens: fc.nat(100) })

const least = 3

type Place = { readonly key: string; readonly requests: number; readonly tokens: number }

/** A minimal model of the counters, to compare the store with. */
function createModel() {
  const counts = new Map<string, [requests: number, tokens: number]>()
  const countOf = (key: string): [requests: number, tokens: number] => counts.get(key) ?? [0, 0]
  return {
    /** The reserved tokens; undefined if the request is rejected. */
    take(reservations: readonly Place[], request: { tokens: number; output: number }): number | undefined {
      const limiting = reservations.filter(({ tokens }) => tokens > 0)
      const left = limiting.map(({ key, tokens }) => tokens - countOf(key)[1])
      const reserved = limiting.length === 0 ? 0 : Math.min(request.tokens + request.output, ...left)
      if (reservations.some(({ key, requests }) => requests > 0 && countOf(key)[0] >= requests)) return undefined
      if (limiting.length > 0 && reserved < request.tokens + Math.min(least, request.output)) return undefined
      for (const { key } of reservations) {
        const [used, usedTokens] = countOf(key)
        counts.set(key, [used + 1, usedTokens + reserved])
      }
      return reserved
    },
    correct(keys: readonly string[], tokens: number): void {
      for (const key of keys) {
        const [used, usedTokens] = countOf(key)
        counts.set(key, [used, usedTokens + tokens])
      }
    },
  }
}

test('the quota store counts like a minimal model for any sequence of requests', async () => {
  const [sqlite] = engines
  assert.ok(sqlite)
  await fc.assert(
    fc.asyncProperty(limits, limits, fc.array(step, { maxLength: 30 }), async (user, project, steps) => {
      await using scene = await openScene(sqlite.open)
      const model = createModel()
      const taken: { settle: (tokens: number) => Promise<void>; keys: string[]; tokens: number }[] = []
      for (const each of steps) {
        if (each.do === 'pass') scene.clock.passMs(each.ms)
        else if (each.do === 'settle') {
          const [reservation] = taken.splice(each.which % Math.max(1, taken.length), 1)
          await reservation?.settle(each.tokens)
          if (reservation) model.correct(reservation.keys, each.tokens - reservation.tokens)
        } else {
          const { startMs } = windowAt('minute', scene.clock.nowMs())
          const { startMs: hourMs } = windowAt('hour', scene.clock.nowMs())
          const reservations = [
            ...(each.user === undefined ? [] : [{ key: `${each.user} ${startMs}`, ...user }]),
            { key: `project ${hourMs}`, ...project },
          ].filter(({ requests, tokens }) => requests + tokens > 0)
          const request = { user: { ...user, window: 'minute' }, project: { ...project, window: 'hour' } } as const
          const naming = each.user === undefined ? {} : { userId: each.user }
          const { tokens, output } = each
          const wanted = { tokens, output, least: Math.min(least, output) }
          const reservation = await scene.take({ ...request, ...naming, ...wanted }).catch((error) => {
            assert.ok(isFault(error) && error.code === 'rate_limit_exceeded')
          })
          const reserved = model.take(reservations, each)
          assert.equal(reservation !== undefined, reserved !== undefined)
          if (reservation === undefined || reserved === undefined) continue
          const isReserved = reservations.some((limit) => limit.tokens > 0)
          assert.equal(Math.min(reservation.maxOutputTokens, output), isReserved ? reserved - tokens : output)
          const keys = reservations.map(({ key }) => key)
          taken.push({ settle: (used) => reservation.settle(used), keys, tokens: reserved })
        }
      }
    }),
    { numRuns: 40 },
  )
})
