import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { actionText, amountOf, amountText, appliesTo, spentText } from './budget-words.ts'
import type { components } from '../api/schema.d.ts'

type Budget = components['schemas']['Budget']

const match = { project_ids: [], api_key_ids: [], models: [], users: [], tags: {} }
const names = { projects: new Map([['proj_1', 'Web']]), keys: new Map([['key_1', 'Bot']]) }

describe('a budget in words', () => {
  it('says whose requests it applies to', () => {
    assert.equal(appliesTo({ per: 'all', match }, names), 'All requests')
    assert.equal(appliesTo({ per: 'tag:team', match }, names), 'Each team')
    assert.equal(
      appliesTo(
        {
          per: 'user',
          match: { ...match, project_ids: ['proj_1', 'proj_2'], api_key_ids: ['key_1'], models: ['gpt-*'] },
        },
        names,
      ),
      'Each user, projects Web or proj_2, key Bot, model gpt-*',
    )
    assert.equal(
      appliesTo({ per: 'key', match: { ...match, users: ['ada'], tags: { team: ['red', 'blue'], env: [] } } }, names),
      'Each key, user ada, team red or blue',
    )
  })

  it('says its amount in its unit', () => {
    const budget = { amount_usd: null, tokens: null, requests: null, period: 'day' } as Budget
    assert.equal(amountText({ ...budget, amount_usd: 5 }), '$5.00 a day')
    assert.equal(amountText({ ...budget, tokens: 12_000 }), '12,000 tokens a day')
    assert.equal(amountText({ ...budget, requests: 37, period: 'once' }), '37 requests once')
    assert.equal(amountText({ ...budget, requests: 1 }), '1 request a day')
    assert.equal(spentText('usd', 4.1, 5), '$4.10 of $5.00')
    assert.equal(spentText('tokens', 37, 1000), '37 of 1,000 tokens')
    assert.equal(spentText('tokens', 1_489, 2_000_000), '1,489 of 2M tokens')
    assert.deepEqual(amountOf({ ...budget, requests: 37 }), { unit: 'requests', amount: 37 })
  })

  it('says what happens over it', () => {
    assert.equal(actionText('deny'), 'Reject')
    assert.equal(actionText('warn'), 'Only warn')
    assert.equal(actionText('use_model:small'), 'Use small')
  })
})
