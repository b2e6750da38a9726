import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createIds, timeOfId } from './ids.ts'
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

it('encodes the first id even if the clock starts at 0', () => {
  const ids = createIds({ ...systemClock, nowMs: () => 0 }, systemRandom)
  assert.match(ids('pol'), /^pol_0{10}[0-9a-z]{16}$/)
})

it('encodes the time of every id, however many of its digits change', () => {
  let nowMs = 0
  const ids = createIds({ ...systemClock, nowMs: () => nowMs }, systemRandom)
  for (const stepMs of [1, 31, 32, 1_023, 1, 32_768, 1_800_000_000_000, 1, 7, 33, 1_048_576]) {
    nowMs += stepMs
    const digits = Array.from(ids('pol').slice(4, 14), (digit) => '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(digit))
    assert.equal(
      digits.reduce((sum, digit) => sum * 32 + digit, 0),
      nowMs,
    )
  }
})

it('reads the time of an id, with or without its prefix', () => {
  const ids = createIds({ ...systemClock, nowMs: () => 1_767_225_600_123 }, systemRandom)
  const id = ids('evt')
  assert.deepEqual([timeOfId(id), timeOfId(id.slice(4, 14))], [1_767_225_600_123, 1_767_225_600_123])
})
