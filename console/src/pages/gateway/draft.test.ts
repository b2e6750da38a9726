import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changesOf, cleaned, linesOf, rolloutStages, stageOf, withStage } from './draft.ts'
import type { GatewayConfig } from './queries.ts'

describe('the changes of a configuration', () => {
  it('name the fields that differ by their path', () =>
    assert.deepEqual(
      changesOf({ a: 1, rules: { redact: false, other: 'x' } }, { a: 1, rules: { redact: true, other: 'x' } }),
      [{ field: 'rules.redact', before: 'false', after: 'true' }],
    ))
  it('of a list are the items that were added and removed', () =>
    assert.deepEqual(changesOf({ denylist: ['a', 'b'] }, { denylist: ['b', 'c', 'd'] }), [
      { field: 'denylist', before: 'a', after: 'c\nd' },
    ]))
  it('of a list in another order are both lists', () =>
    assert.deepEqual(changesOf({ l: ['a', 'b'] }, { l: ['b', 'a'] }), [{ field: 'l', before: 'a\nb', after: 'b\na' }]))
  it('include fields that were added or set to null', () =>
    assert.deepEqual(changesOf({ owner: 'x' }, { owner: null, name: 'n' }), [
      { field: 'owner', before: '"x"', after: 'null' },
      { field: 'name', before: '', after: '"n"' },
    ]))
  it('are none for equal configurations', () => assert.deepEqual(changesOf({ a: [1], b: {} }, { a: [1], b: {} }), []))
})

describe('the stage of a rollout', () => {
  const rollout = {
    shadow: { enabled: true, sample_percent: 20, targets: ['t'] },
    canary: { enabled: true, sample_percent: 5, targets: [] },
    rollback_on_spike: true,
  } as unknown as GatewayConfig['rollout']
  for (const stage of rolloutStages)
    it(`is ${stage} after it was chosen, whatever it was before`, () => {
      const chosen = withStage(rollout, stage)
      assert.equal(stageOf(chosen), stage)
      assert.equal(chosen.rollback_on_spike, true)
    })
  it('is none for a combination that only JSON can express', () => assert.equal(stageOf(rollout), undefined))
  it('keeps the share of the canary when it changes', () =>
    assert.equal(withStage(rollout, 'share').canary.sample_percent, 5))
})

describe('the lines of a text area', () => {
  it('leave out empty lines, except the one being typed', () => {
    assert.deepEqual(linesOf('a\n\nb\n'), ['a', 'b', ''])
    assert.deepEqual(linesOf(''), [])
  })
  it('are sent without the empty one', () => {
    const rules = { allowlist: ['a', ''], denylist: [''], redact: true }
    assert.deepEqual(cleaned({ rules } as unknown as GatewayConfig).rules, {
      allowlist: ['a'],
      denylist: [],
      redact: true,
    })
  })
})
