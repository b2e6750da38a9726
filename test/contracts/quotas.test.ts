import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isFault } from '../../src/base/fault.ts'
import { windowAt } from '../../src/domain/gateway/quota.ts'
import { engines } from '../support/engines.ts'
import { openScene, quotaContract } from './quotas.contract.ts'

for (const engine of engines) quotaContract(engine)

const step = fc.oneof(
  fc.record({ do: fc.constant('take' as const), tokens: fc.nat(40), user: fc.constantFrom('ann', 'bob', undefined) }),
  fc.record({ do: fc.constant('settle' as const), which: fc.nat(20), tokens: fc.nat(60) }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 20_000, 60_000) }),
)
const limits = fc.record({ requests: fc.nat(6), tokens: fc.nat(100) })

/** The plainest counting there is, to hold the store against. */
function createModel() {
  const counts = new Map<string, [requests: number, tokens: number]>()
  return {
    take(places: readonly { key: string; requests: number; tokens: number }[], tokens: number): boolean {
      const fits = places.every(({ key, ...limit }) => {
        const [used, usedTokens] = counts.get(key) ?? [0, 0]
        return (
          (limit.requests === 0 || used < limit.requests) && (limit.tokens === 0 || usedTokens + tokens <= limit.tokens)
        )
      })
      for (const { key } of fits ? places : []) {
        const [used, usedTokens] = counts.get(key) ?? [0, 0]
        counts.set(key, [used + 1, usedTokens + tokens])
      }
      return fits
    },
    correct(keys: readonly string[], tokens: number): void {
      for (const key of keys) {
        const [used, usedTokens] = counts.get(key) ?? [0, 0]
        counts.set(key, [used, usedTokens + tokens])
      }
    },
  }
}

test('quotas count as the plainest model does, whatever is asked', async () => {
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
          const [place] = taken.splice(each.which % Math.max(1, taken.length), 1)
          await place?.settle(each.tokens)
          if (place) model.correct(place.keys, each.tokens - place.tokens)
        } else {
          const { startMs } = windowAt('minute', scene.clock.nowMs())
          const { startMs: hourMs } = windowAt('hour', scene.clock.nowMs())
          const places = [
            ...(each.user === undefined ? [] : [{ key: `${each.user} ${startMs}`, ...user }]),
            { key: `project ${hourMs}`, ...project },
          ].filter(({ requests, tokens }) => requests + tokens > 0)
          const asked = { user: { ...user, window: 'minute' }, project: { ...project, window: 'hour' } } as const
          const naming = each.user === undefined ? {} : { userId: each.user }
          const place = await scene.take({ ...asked, ...naming, tokens: each.tokens }).catch((error) => {
            assert.ok(isFault(error) && error.code === 'rate_limit_exceeded')
          })
          assert.equal(place !== undefined, model.take(places, each.tokens))
          const keys = places.map(({ key }) => key)
          if (place) taken.push({ settle: (tokens) => place.settle(tokens), keys, tokens: each.tokens })
        }
      }
    }),
    { numRuns: 40 },
  )
})
