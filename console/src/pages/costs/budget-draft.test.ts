import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { numberIn } from '../../kit/number-in.ts'
import { bodyOfDraft, draftOfBudget, isComplete, newBudgetDraft } from './budget-draft.ts'
import type { Budget } from './queries.ts'

const budget: Budget = {
  id: 'bud_1',
  object: 'organization.budget',
  name: 'Team red',
  match: {
    project_ids: ['proj_1'],
    api_key_ids: [],
    models: ['gpt-*', 'local'],
    users: ['ada', 'Lovelace, Ada'],
    tags: { team: ['red', 'a=b'], env: ['prod'] },
  },
  per: 'tag:team',
  amount_usd: null,
  tokens: 5000,
  requests: null,
  period: 'week',
  time_zone: 'Europe/Berlin',
  action: 'use_model:small',
  warn_at: [50, 90],
  extra: null,
  state: 'active',
  revision: 3,
  created_at: 1,
  updated_at: 1,
}

describe('the form of a budget', () => {
  it('sends a stored budget as it is', () => {
    const { name, match, per, tokens, period, time_zone, action, warn_at } = budget
    assert.deepEqual(bodyOfDraft(draftOfBudget(budget)), {
      name,
      match,
      per,
      tokens,
      period,
      time_zone,
      action,
      warn_at,
    })
  })

  it('can be sent once it has a name and an amount, and a model if it uses another', () => {
    const named = { ...newBudgetDraft, name: 'Red', amount: '0,5' }
    assert.ok(isComplete(named))
    assert.equal(bodyOfDraft(named).amount_usd, 0.5)
    for (const wrong of [{ name: ' ' }, { amount: '' }, { amount: '0' }, { amount: 'much' }, { timeZone: '' }])
      assert.ok(!isComplete({ ...named, ...wrong }), JSON.stringify(wrong))
    assert.ok(!isComplete({ ...named, action: 'use_model' }))
    assert.ok(isComplete({ ...named, action: 'use_model', model: 'small' }))
  })

  it('takes no thresholds, and none that are no whole numbers', () => {
    assert.deepEqual(bodyOfDraft({ ...newBudgetDraft, warnAt: ' ' }).warn_at, [])
    assert.ok(isComplete({ ...newBudgetDraft, name: 'Red', amount: '1', warnAt: '' }))
    assert.ok(!isComplete({ ...newBudgetDraft, name: 'Red', amount: '1', warnAt: '50, x' }))
  })

  it('leaves an incomplete tag to the server, which says what is wrong with it', () => {
    assert.deepEqual(bodyOfDraft({ ...newBudgetDraft, tags: 'team = red\nenv\n\nteam=blue' }).match?.tags, {
      team: ['red', 'blue'],
      env: [],
    })
  })

  it('reads no number where none is, and none that can mean two', () => {
    assert.ok(Number.isNaN(numberIn(' ')))
    assert.ok(Number.isNaN(numberIn('1,000')))
    assert.equal(numberIn('1000'), 1000)
    assert.equal(numberIn('2.125'), 2.125)
  })
})
