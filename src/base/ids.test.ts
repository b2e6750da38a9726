import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createIds } from './ids.ts'
import { systemClock } from './clock.ts'
import { systemRandom } from './random.ts'

it('makes ids that sort by creation, within one millisecond and when the clock steps back', () => {
  const times = [1000, 1000, 1000, 999, 1001, 5, 1_800_000_000_000, 7]
  let at = 0
  const ids = createIds({ ...systemClock, nowMs: () => times[at++ % times.length] ?? 0 }, systemRandom)
  const made = Array.from({ length: 200 }, () => ids('pol'))
  assert.deepEqual(made.toSorted(), made)
  assert.equal(new Set(made).size, made.length)
  assert.ok(made.every((id) => /^pol_[0-9a-z]{26}$/.test(id)))
})

it('spells the first id also where time begins at 0', () => {
  const ids = createIds({ ...systemClock, nowMs: () => 0 }, systemRandom)
  assert.match(ids('pol'), /^pol_0{10}[0-9a-z]{16}$/)
})
