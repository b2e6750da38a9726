import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ApiError, createApiClient } from '../../src/app/client/api-client.ts'
import { withBudget } from '../../src/cli/key-budget.ts'
import { openCommandLine } from '../support/command-line.ts'

describe('keys create with a budget', async () => {
  const { call, json, ...line } = await openCommandLine()
  before(() => call('setup'))
  after(() => line[Symbol.asyncDispose]())

  it('creates a budget that matches exactly the key, under the name of the key or another one', async () => {
    const first = await call('keys', 'create', '--name', 'trial', '--budget-usd', '20', '--budget-action', 'warn')
    assert.match(first.output, /^ak_\w+\n\nkey_\w+ trial may: .*\nIts budget is bud_\w+ trial\.$/m)
    const second = await json('keys', 'create', '--name', 'trial', '--budget-requests', '5', '--budget-period', 'day')
    assert.partialDeepStrictEqual(second['budget'], {
      name: `trial ${String(second['id']).slice(-6)}`,
      requests: 5,
      period: 'day',
      action: 'deny',
      match: { api_key_ids: [second['id']] },
    })
    const shown = await json('budgets', 'show', 'trial')
    assert.partialDeepStrictEqual(shown, { amount_usd: 20, period: 'month', action: 'warn' })
  })

  it('creates no key if the amount is wrong', async () => {
    const wrong = await call('keys', 'create', '--name', 'wrong', '--budget-requests', '0.5')
    assert.equal(wrong.status, 2)
    assert.match(wrong.errors, /--budget-requests must be more than 0, .* and whole/)
    assert.doesNotMatch((await call('keys', 'list')).output, /wrong/)
  })

  it('prints the key also if its budget cannot be created', async () => {
    const rejected = new ApiError(409, { code: 'budget_limit_reached', message: 'There are 200 budgets.' })
    const client = createApiClient(() => Promise.reject(rejected))
    const key = JSON.parse('{ "id": "key_1", "name": "late" }') as Parameters<typeof withBudget>[1]
    const result = { json: key, text: 'the secret' }
    const failed = await withBudget(client, key, { result, budget: { period: 'day', requests: 1 } })
    assert.deepEqual(failed, {
      ...result,
      isFailed: true,
      warnings: [
        'The key was created, but its budget was not: There are 200 budgets. Create it with gatehouse budgets create.',
      ],
    })
  })
})
