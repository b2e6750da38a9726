import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { joinedFragments } from './joined-fragments.ts'

describe('joined fragments', () => {
  it('contain neighbouring parts, with and without a line break between them', () => {
    assert.deepEqual(joinedFragments(['I saw', 'a falcon.', 'Nice!']), [
      'I saw\na falcon.\nNice!',
      'I sawa falcon.Nice!',
    ])
    assert.deepEqual(joinedFragments(['I saw a fal', 'con']), ['I saw a fal\ncon', 'I saw a falcon'])
  })

  it('are joined only with a line break if no word can be split', () =>
    assert.deepEqual(joinedFragments(['I saw. ', 'A falcon.']), ['I saw. \nA falcon.']))

  it('are empty for a single part, or if the others are blank', () => {
    assert.deepEqual(joinedFragments(['alone']), [])
    assert.deepEqual(joinedFragments(['alone', ' ', '']), [])
  })

  it('change only at the end when parts are added', () => {
    const parts = Array.from({ length: 400 }, (_, at) => `Part ${at} of many. `)
    const [before, after] = [joinedFragments(parts.slice(0, -1)), joinedFragments(parts)]
    assert.deepEqual(after.slice(0, before.length - 1), before.slice(0, -1))
    assert.ok(after.every(({ length }) => length < 4_000))
    assert.ok(
      parts.every((part, at) => at === 0 || after.some((fragment) => fragment.includes(`${parts[at - 1]}\n${part}`))),
    )
  })

  it('contain no word that the parts do not contain', () => {
    for (let shift = 0; shift < 8; shift++) {
      const skills = (count: number): string => `${'.'.repeat(shift)}${' skills'.repeat(count)}${'.'.repeat(shift + 1)}`
      const fragments = joinedFragments([skills(200), skills(200), ...Array.from({ length: 9 }, () => skills(60))])
      assert.deepEqual([...new Set(fragments.join(' ').match(/\w+/g))], ['skills'])
    }
  })

  it('contain only the two ends of long parts', () => {
    const long = (letter: string): string => `${letter.repeat(2_000)}.`
    const [first = '', second = '', ...others] = joinedFragments([long('a'), 'And ', long('b'), 'Or ', long('c')])
    assert.equal(others.length, 0)
    assert.match(first, /^a{255}\.\nAnd \nb{256}$/)
    assert.match(second, /^b{255}\.\nOr \nc{256}$/)
  })
})
