import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { joinedFragments } from './joined-fragments.ts'

describe('seams', () => {
  it('are what parts say together that none of them says alone', () => {
    assert.deepEqual(joinedFragments(['I saw', 'a falcon.', 'Nice!']), [
      'I saw\na falcon.\nNice!',
      'I sawa falcon.Nice!',
    ])
    assert.deepEqual(joinedFragments(['I saw a fal', 'con']), ['I saw a fal\ncon', 'I saw a falcon'])
  })

  it('are one where no word can be cut in two', () =>
    assert.deepEqual(joinedFragments(['I saw. ', 'A falcon.']), ['I saw. \nA falcon.']))

  it('are none where there is one part, or nothing in the others', () => {
    assert.deepEqual(joinedFragments(['alone']), [])
    assert.deepEqual(joinedFragments(['alone', ' ', '']), [])
  })

  it('grow at their end alone, however many parts there are', () => {
    const parts = Array.from({ length: 400 }, (_, at) => `Part ${at} of many. `)
    const [before, after] = [joinedFragments(parts.slice(0, -1)), joinedFragments(parts)]
    assert.deepEqual(after.slice(0, before.length - 1), before.slice(0, -1))
    assert.ok(after.every(({ length }) => length < 4_000))
    assert.ok(parts.every((part, at) => at === 0 || after.some((seam) => seam.includes(`${parts[at - 1]}\n${part}`))))
  })

  it('hold no word that the parts do not hold', () => {
    for (let shift = 0; shift < 8; shift++) {
      const skills = (count: number): string => `${'.'.repeat(shift)}${' skills'.repeat(count)}${'.'.repeat(shift + 1)}`
      const seams = joinedFragments([skills(200), skills(200), ...Array.from({ length: 9 }, () => skills(60))])
      assert.deepEqual([...new Set(seams.join(' ').match(/\w+/g))], ['skills'])
    }
  })

  it('hold no more of long parts than what stands at their ends', () => {
    const long = (letter: string): string => `${letter.repeat(2_000)}.`
    const [first = '', second = '', ...others] = joinedFragments([long('a'), 'And ', long('b'), 'Or ', long('c')])
    assert.equal(others.length, 0)
    assert.match(first, /^a{255}\.\nAnd \nb{256}$/)
    assert.match(second, /^b{255}\.\nOr \nc{256}$/)
  })
})
