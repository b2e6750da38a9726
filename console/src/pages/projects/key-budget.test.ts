import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { amountProblem, budgetOptions, keyBudgetBody, noBudget, otherName } from './key-budget.ts'

describe('the budget of a new key', () => {
  it('has an amount that the API takes', () => {
    const problemOf = (amount: string, unit: 'usd' | 'requests' = 'usd') =>
      amountProblem({ ...noBudget, amount, unit }) === undefined
    const usd = ['20', ' 0.50 ', '0,5', '0.000001', '1000000000']
    const notUsd = ['twenty', '$20', '1,000', '0', '-1', '0.0000001', '1000000001', 'Infinity', 'NaN']
    assert.deepEqual(
      usd.filter((amount) => !problemOf(amount)),
      [],
    )
    assert.deepEqual(
      notUsd.filter((amount) => problemOf(amount)),
      [],
    )
    assert.deepEqual(
      ['1', '1.5', '1e15', '1e16'].filter((amount) => problemOf(amount, 'requests')),
      ['1', '1e15'],
    )
  })

  it('matches exactly this key', () => {
    const draft = { ...noBudget, amount: ' 1000 ', unit: 'requests', action: 'warn' } as const
    assert.deepEqual(keyBudgetBody(draft, { id: 'key_1', name: 'Bot' }), {
      name: 'Bot',
      requests: 1000,
      period: 'month',
      action: 'warn',
      match: { api_key_ids: ['key_1'] },
    })
    assert.deepEqual(budgetOptions(draft), {
      'budget-requests': '1000',
      'budget-period': 'month',
      'budget-action': 'warn',
    })
    assert.deepEqual(budgetOptions(noBudget), {})
  })

  it('has the end of the id in its name where the name is taken, in 80 characters', () => {
    assert.equal(otherName('Bot', 'key_01abcdef'), 'Bot abcdef')
    assert.equal([...otherName('\u{1f600}'.repeat(80), 'key_01abcdef')].length, 80)
  })
})
