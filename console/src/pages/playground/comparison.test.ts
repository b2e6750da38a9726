import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { policiesOf, readVariation, sideName, sidesOf, variationText } from './comparison.ts'

describe('what is compared', () => {
  it('is read from the address, where a name may contain colons', () => {
    assert.deepEqual(readVariation('model:vendor:large'), { kind: 'model', id: 'vendor:large' })
    assert.equal(variationText({ kind: 'model', id: 'vendor:large' }), 'model:vendor:large')
    for (const text of [undefined, '', 'model:', 'other:x', 'draft']) assert.equal(readVariation(text), undefined)
  })
  it('is one side while nothing is chosen', () =>
    assert.deepEqual(sidesOf({ against: 'draft:pol_1' }, 'm'), [{ model: 'm', rules: undefined }]))
  it('is two models with the rules in force', () =>
    assert.deepEqual(sidesOf({ compare: 'model:n', against: 'draft:pol_1' }, 'm'), [
      { model: 'm', rules: undefined },
      { model: 'n', rules: undefined },
    ]))
  it('is two states of the rules with one model', () => {
    const without = { kind: 'without', id: 'pol_2' }
    assert.deepEqual(sidesOf({ compare: 'without:pol_2' }, 'm'), [
      { model: 'm', rules: undefined },
      { model: 'm', rules: without },
    ])
    assert.deepEqual(sidesOf({ compare: 'without:pol_2', against: 'draft:pol_1' }, 'm'), [
      { model: 'm', rules: { kind: 'draft', id: 'pol_1' } },
      { model: 'm', rules: without },
    ])
  })
})

describe('a side', () => {
  const nameOf = (id: string) => `name of ${id}`
  it('has the name of what differs', () => {
    const named = (compare: string) => {
      const sides = sidesOf({ compare }, 'm').filter((side) => side !== undefined)
      return sides.map((side) => sideName(side, sides, nameOf))
    }
    assert.deepEqual(named('model:n'), ['m', 'n'])
    assert.deepEqual(named('draft:pol_1'), ['In force', 'With the draft of name of pol_1'])
    assert.deepEqual(named('without:pol_1'), ['In force', 'Without name of pol_1'])
  })
  it('is evaluated with its rules in place of those in force', () => {
    assert.equal(policiesOf(undefined), 'in_force')
    assert.deepEqual(policiesOf({ kind: 'draft', id: 'p' }), ['in_force', { policy_id: 'p', use: 'draft' }])
    assert.deepEqual(policiesOf({ kind: 'without', id: 'p' }), ['in_force', { policy_id: 'p', use: 'none' }])
  })
})
