import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'

type Decision = {
  readonly decision: string
  readonly reason_code: string
  readonly level: string
  readonly deciding: { readonly check: string; readonly name: string } | null
  readonly exceptions: readonly { readonly exception_id: string; readonly policy_id: string }[]
  readonly evidence: readonly { readonly kind: string; readonly name: string; readonly part: string | null }[]
}

const texts = { term: 'Tell Wilhelmina about the falcon.', crisis: 'I want to kill myself tonight.' }

const startApp = (level?: string) =>
  startTestApp({
    config: { audit: { content: 'full' }, ...(level !== undefined && { explanations: { to_callers: level } }) },
  })

async function change(app: TestApp, path: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.url}/v1/organization${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as Record<string, unknown>
  assert.ok(response.ok, JSON.stringify(answer))
  return answer
}

/** Publishes a rule, sends a text that is denied, and returns the id of its event. */
async function denied(app: TestApp, content: string): Promise<string> {
  const rule = 'cel:text.contains("falcon")'
  const { id } = await change(app, '/policies', { name: 'No code names', rule, mode: 'enforcing' })
  await change(app, `/policies/${String(id)}/publish`, { revision: 1 })
  const body = { model: 'gatehouse-echo', max_tokens: 50, messages: [{ role: 'user', content }] }
  const response = await app.post('/v1/messages', body)
  assert.equal(response.status, 400)
  const { policy } = (await response.json()) as { policy: { event_id: string } }
  return policy.event_id
}

/** Sends a text of a user that an exception lets through, and returns the id of its event. */
async function allowed(app: TestApp, content: string, user: string): Promise<string> {
  const body = { model: 'gatehouse-echo', max_tokens: 50, messages: [{ role: 'user', content }] }
  const authorization = `Bearer ${app.apiKey}`
  const response = await app.post('/v1/messages', body, { authorization, 'x-policy-user': user })
  assert.equal(response.status, 200)
  const { policy } = (await response.json()) as { policy: { event_id: string } }
  return policy.event_id
}

const read = (app: TestApp, id: string, key?: string) =>
  app.get(`/v1/decisions/${id}`, key === undefined ? undefined : { authorization: `Bearer ${key}` })

const decisionOf = async (app: TestApp, id: string): Promise<Decision> => {
  const response = await read(app, id)
  const body = await response.text()
  assert.equal(response.status, 200, body)
  assert.doesNotMatch(body, /Wilhelmina|kill myself/)
  return JSON.parse(body) as Decision
}

describe('GET /v1/decisions/{event_id}', () => {
  it('tells a caller the code alone by default', async () => {
    await using app = await startApp()
    const {
      decision,
      reason_code: code,
      level,
      deciding,
      evidence,
    } = await decisionOf(app, await denied(app, texts.term))
    assert.deepEqual([decision, code, level, deciding, evidence], ['refuse', 'REFUSE', 'code', null, []])
  })

  it('names the policy if the configuration says so', async () => {
    await using app = await startApp('policy')
    const { deciding, evidence } = await decisionOf(app, await denied(app, texts.term))
    assert.deepEqual([deciding?.check, deciding?.name, evidence], ['policy', 'No code names', []])
  })

  it('says what the rule acted on and where, without words of the text', async () => {
    await using app = await startApp('evidence')
    const { evidence } = await decisionOf(app, await denied(app, texts.term))
    assert.deepEqual(
      evidence.map(({ kind, name, part }) => [kind, name, part]),
      [
        ['phrase', 'falcon', 'messages[0]'],
        ['expression', 'text.contains("falcon")', null],
      ],
    )
  })

  it('tells the code alone of a category that is always blocked', async () => {
    await using app = await startApp('evidence')
    const { level, deciding, evidence } = await decisionOf(app, await denied(app, texts.crisis))
    assert.deepEqual([level, deciding, evidence], ['code', null, []])
  })

  it('names the exceptions that let a request through, if the configuration says so', async () => {
    for (const level of ['policy', 'evidence', undefined]) {
      await using app = await startApp(level)
      assert.deepEqual((await decisionOf(app, await denied(app, texts.term))).exceptions, [])
      const headers = { authorization: `Bearer ${app.adminKey}` }
      const { data } = (await (await app.get('/v1/organization/policies', headers)).json()) as {
        data: { id: string }[]
      }
      const policyId = data[0]?.id ?? assert.fail()
      const made = await change(app, `/policies/${policyId}/exceptions`, {
        for: { user: 'ada' },
        reason: 'Legal agreed',
        expires_at: Math.floor(Date.now() / 1000) + 3_600,
      })
      // The gateway configuration decides, and the exception of the policy counts beside it.
      const config = { rules: { redact: true } }
      const saved = await fetch(`${app.url}/api/policy-gateway/config`, {
        method: 'PUT',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(config),
      })
      assert.equal(saved.status, 200)
      const expected = level === undefined ? [] : [{ exception_id: made['id'], policy_id: policyId }]
      for (const text of [texts.term, `${texts.term} Write to ann@example.com.`]) {
        const { decision, exceptions } = await decisionOf(app, await allowed(app, text, 'ada'))
        assert.deepEqual([decision, exceptions], [text === texts.term ? 'refuse' : 'redact', expected])
      }
    }
  })

  it('does not know an event of another project, of administration, or none at all', async () => {
    await using app = await startApp('evidence')
    const id = await denied(app, texts.term)
    const { id: project } = await change(app, '/projects', { name: 'Other' })
    const { value } = await change(app, `/projects/${String(project)}/api_keys`, { name: 'other' })
    assert.equal((await read(app, id, String(value))).status, 404)
    const log = await app.get('/v1/organization/audit_logs?kind=policy.published', {
      authorization: `Bearer ${app.adminKey}`,
    })
    const { data } = (await log.json()) as { data: { id: string }[] }
    assert.equal((await read(app, data[0]?.id ?? '')).status, 404)
    const unknown = await read(app, 'evt_unknown')
    assert.equal(unknown.status, 404)
    const { error } = (await unknown.json()) as { error: { message: string } }
    assert.match(error.message, /no decision evt_unknown on a request of this project/)
  })

  it('answers ten reads a minute for a key, and says when to try again', async () => {
    await using app = await startApp()
    const id = await denied(app, texts.term)
    for (let at = 0; at < 10; at += 1) assert.equal((await read(app, id)).status, 200)
    const limited = await read(app, id)
    assert.equal(limited.status, 429)
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
    const { error } = (await limited.json()) as { error: { code: string } }
    assert.equal(error.code, 'rate_limit_exceeded')
  })

  it('needs a key', async () => {
    await using app = await startApp()
    assert.equal((await fetch(`${app.url}/v1/decisions/evt_1`)).status, 401)
  })
})
