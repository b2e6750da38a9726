import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { amountAt, type BudgetMatch, type BudgetPer } from './budget.ts'
import { matches, memberOf, type Spender } from './match.ts'

const spender: Spender = {
  projectId: 'proj_1',
  keyId: 'key_1',
  model: 'gpt-5-mini',
  userId: 'ada',
  tags: { team: 'red', env: 'prod' },
}
const all: BudgetMatch = { projectIds: [], keyIds: [], models: [], users: [], tags: {} }
const isMatched = (part: Partial<BudgetMatch>, by: Partial<Spender> = {}): boolean =>
  matches({ match: { ...all, ...part } }, { ...spender, ...by })
const member = (per: BudgetPer, by: Partial<Spender> = {}) => memberOf({ per }, { ...spender, ...by })

describe('a budget', () => {
  it('without conditions matches every request', () => {
    assert.ok(isMatched({}))
    assert.ok(isMatched({}, { userId: undefined, tags: {} }))
    assert.ok(isMatched({ tags: { team: [] } }, { tags: {} }))
  })

  it('matches requests that meet all of its conditions', () => {
    const match = {
      projectIds: ['proj_0', 'proj_1'],
      keyIds: ['key_1'],
      users: ['ada'],
      tags: { team: ['blue', 'red'] },
    }
    assert.ok(isMatched(match))
    assert.ok(!isMatched(match, { projectId: 'proj_2' }))
    assert.ok(!isMatched(match, { keyId: 'key_2' }))
    assert.ok(!isMatched(match, { userId: 'bob' }))
    assert.ok(!isMatched(match, { userId: undefined }))
    assert.ok(!isMatched(match, { tags: { team: 'green' } }))
    assert.ok(!isMatched(match, { tags: {} }))
    assert.ok(!isMatched({ tags: { constructor: ['x'] } }))
  })

  it('matches models by their name or by the start of it', () => {
    assert.ok(isMatched({ models: ['gpt-5-mini'] }))
    assert.ok(isMatched({ models: ['claude', 'gpt-5*'] }))
    assert.ok(isMatched({ models: ['*'] }))
    assert.ok(!isMatched({ models: ['gpt-5'] }))
    assert.ok(!isMatched({ models: ['gpt-6*'] }))
  })

  it('gives each project, key, user or value of a tag an amount of its own', () => {
    assert.equal(member('all'), null)
    assert.equal(member('project'), 'proj_1')
    assert.equal(member('key'), 'key_1')
    assert.equal(member('user'), 'ada')
    assert.equal(member('tag:team'), 'red')
  })

  it('does not apply to a request that names no member', () => {
    assert.equal(member('user', { userId: undefined }), undefined)
    assert.equal(member('tag:region'), undefined)
    assert.equal(member('tag:constructor'), undefined)
  })

  it('has its extra until that ends', () => {
    const budget = { amount: 100, extra: { amount: 20, untilMs: 2_000, reason: 'launch' } }
    assert.equal(amountAt(budget, 1_000), 120)
    assert.equal(amountAt(budget, 1_000, 1_999), 120)
    assert.equal(amountAt(budget, 1_000, 2_000), 100)
    assert.equal(amountAt(budget, 2_000), 100)
    assert.equal(amountAt({ ...budget, extra: null }, 1_000), 100)
  })
})
