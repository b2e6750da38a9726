import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../support/admin-suite.ts'
import { errorOf, textOf } from '../support/administration.ts'
import { startPaidApp, question } from '../support/paid-app.ts'

const hello = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

type MessagesError = {
  readonly error: { readonly message: string; readonly details: { readonly error_code: string } }
  readonly policy?: { readonly event_id: string }
}

describe('the text of an error', () => {
  const { app, admin, policy } = adminSuite()
  const messages = async (body: object, headers?: Record<string, string>) => {
    const response = await app().post('/v1/messages', body, headers)
    return { response, body: (await response.json()) as MessagesError }
  }

  it('names the wrong kind of key in every family', async () => {
    const administrator = { authorization: `Bearer ${app().adminKey}` }
    const expected = 'This is an administrator key (adm_…); this endpoint needs a project API key (ak_…).'
    const { response, body } = await messages(hello, administrator)
    assert.deepEqual([response.status, body.error.message], [401, expected])
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/credits']) {
      const answer =
        path === '/v1/credits' ? await app().get(path, administrator) : await app().post(path, {}, administrator)
      assert.equal(answer.status, 401)
      assert.ok((await answer.text()).includes(expected), path)
    }
    const provider = await messages(hello, { 'x-api-key': 'sk-ant-api03-abc' })
    assert.match(provider.body.error.message, /^This is a key of a model provider; .* project API key \(ak_…\)\.$/)
    const reverse = await admin().send('GET', '/policies', { headers: { authorization: `Bearer ${app().apiKey}` } })
    assert.deepEqual(
      [reverse.status, errorOf(reverse)['message']],
      [401, 'This is a project API key (ak_…); this endpoint needs an administrator key (adm_…).'],
    )
  })

  it('has a code in the body of messages and in a header', async () => {
    const { response, body } = await messages({ ...hello, model: 'none' })
    assert.deepEqual(
      [body.error.details.error_code, response.headers.get('x-gatehouse-error-code')],
      ['model_not_found', 'model_not_found'],
    )
    const answer = await admin().send('GET', '/policies/pol_none')
    assert.equal(answer.headers.get('x-gatehouse-error-code'), 'not_found')
  })

  it('names up to three fields', async () => {
    const { body } = await messages({ model: 1, max_tokens: 0, messages: [], temperature: 9 })
    assert.match(body.error.message, /^model: .*; max_tokens: .*; messages: .* \(and 1 more\)$/)
  })

  it('names the header of an unknown policy', async () => {
    const headers = { authorization: `Bearer ${app().apiKey}`, 'x-policy-id': 'pol_none' }
    const { body } = await messages(hello, headers)
    assert.match(body.error.message, /^X-Policy-Id: .*pol_none/)
    const responses = await app().post('/v1/responses', { model: 'gatehouse-echo', input: 'hi' }, headers)
    assert.match(((await responses.json()) as { error: string }).error, /^X-Policy-Id: /)
  })

  it('names the policy that denies, and its event can be read', async () => {
    const rule = 'cel:text.contains("falcon")'
    const made = await policy({ name: 'No falcons', rule, mode: 'enforcing' }, ['publish'])
    const { body } = await messages({ ...hello, messages: [{ role: 'user', content: 'a falcon' }] })
    assert.ok(
      body.error.message.startsWith(`Denied by the policy "No falcons" (${textOf(made)}) (`),
      body.error.message,
    )
    const event = await admin().get(`/audit_logs/${body.policy?.event_id}`)
    assert.deepEqual([event['policy_id'], event['decision']], [made['id'], 'refuse'])
  })
})

describe('the text of a 402', () => {
  it('names the balance that the credits show', async () => {
    await using paid = await startPaidApp({ config: { credits: { starting: 40 } } })
    const credits = (await (await paid.app.get('/v1/credits')).json()) as {
      data: { remaining_credits: number; remaining_usd: number }
    }
    assert.deepEqual([credits.data.remaining_credits, credits.data.remaining_usd], [40, 0.04])
    const response = await paid.app.post('/v1/messages', { ...question, max_tokens: 1000 })
    const { error } = (await response.json()) as MessagesError
    assert.equal(response.status, 402)
    assert.match(error.message, /; 40 are left\. Add credits with gatehouse credits grant, or request fewer/)
  })
})
