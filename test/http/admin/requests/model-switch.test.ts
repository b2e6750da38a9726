import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestApp } from '../../../support/app.ts'

describe('a request that a budget continues with another model', () => {
  it('names the requested model and the budget in its detail, and no other request does', async () => {
    const targets = [{ upstream: 'echo' }]
    await using app = await startTestApp({
      config: {
        upstreams: [{ name: 'echo', kind: 'echo' }],
        models: [
          { name: 'gatehouse-echo', targets },
          { name: 'small-echo', targets },
        ],
      },
    })
    const admin = { authorization: `Bearer ${app.adminKey}` }
    const budget = { name: 'Once', requests: 1, period: 'month', action: 'use_model:small-echo' }
    const made = await app.post('/v1/organization/budgets', budget, admin)
    const { id } = (await made.json()) as { id: string }
    const ask = async (): Promise<unknown> => {
      const body = { model: 'gatehouse-echo', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] }
      const response = await app.post('/v1/messages', body)
      assert.equal(response.status, 200, await response.text())
      const path = `/v1/organization/requests/${response.headers.get('x-request-id')}`
      const detail = (await (await app.get(path, admin)).json()) as { model: string; model_switch: unknown }
      return [detail.model, detail.model_switch]
    }
    assert.deepEqual(await ask(), ['gatehouse-echo', null])
    assert.deepEqual(await ask(), ['small-echo', { requested_model: 'gatehouse-echo', budget_id: id }])
  })
})
