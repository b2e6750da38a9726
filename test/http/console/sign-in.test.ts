import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { newLink, openBrowser, type ConsoleBrowser } from '../../support/console.ts'

const me = '/v1/organization/me'
const hourMs = 3_600_000

async function codeOf(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: { code: string } }
  return [response.status, error.code]
}

async function signedIn(app: TestApp): Promise<ConsoleBrowser> {
  const browser = openBrowser(app)
  assert.equal((await browser.signIn({ key: app.adminKey })).status, 204)
  return browser
}

describe('signing in to the console', () => {
  it('exchanges an administrator key for a cookie that acts as the key', async () => {
    await using app = await startTestApp()
    const browser = await signedIn(app)
    const answer = (await (await browser.get(me)).json()) as { actor: { type: string; id: string } }
    assert.equal(answer.actor.type, 'console')
    assert.match(answer.actor.id, /^adk_/)
    assert.equal((await browser.get('/api/policy-gateway/config')).status, 200)
  })

  it('sets a cookie that scripts and other sites cannot use', async () => {
    await using app = await startTestApp()
    const response = await openBrowser(app).signIn({ key: app.adminKey })
    const [value, ...attributes] = response.headers.get('set-cookie')?.split('; ') ?? []
    assert.match(value ?? '', /^gatehouse_console=[\w-]{43}$/)
    assert.deepEqual(attributes, ['HttpOnly', 'SameSite=Strict', 'Path=/'])
  })

  it('accepts a one-time link once', async () => {
    await using app = await startTestApp()
    const link = await newLink(app)
    const browser = openBrowser(app)
    assert.equal((await browser.signIn({ link })).status, 204)
    assert.equal((await browser.get(me)).status, 200)
    assert.deepEqual(await codeOf(await openBrowser(app).signIn({ link })), [401, 'invalid_link'])
  })

  it('rejects a link after 15 minutes', async () => {
    let aheadMs = 0
    await using app = await startTestApp({ clock: { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs } })
    const link = await newLink(app)
    aheadMs = hourMs / 4
    assert.deepEqual(await codeOf(await openBrowser(app).signIn({ link })), [401, 'invalid_link'])
  })

  it('rejects a wrong key, a project key, and both credentials at once', async () => {
    await using app = await startTestApp()
    const browser = openBrowser(app)
    const last = app.adminKey.endsWith('0') ? '1' : '0'
    assert.equal((await browser.signIn({ key: `${app.adminKey.slice(0, -1)}${last}` })).status, 401)
    assert.equal((await browser.signIn({ key: app.apiKey })).status, 401)
    const both = await browser.post('/console/api/sign_in', { key: app.adminKey, link: 'x' })
    assert.deepEqual(await codeOf(both), [422, 'invalid_parameter'])
    assert.equal(browser.cookie(), '')
  })

  it('slows down an address that guesses', async () => {
    await using app = await startTestApp({ config: { server: { auth_failures_per_minute: 3 } } })
    const browser = openBrowser(app)
    const statuses = []
    for (let at = 0; at < 5; at++) statuses.push((await browser.signIn({ link: `guess-${at}` })).status)
    assert.deepEqual(statuses, [401, 401, 401, 429, 429])
    assert.equal((await browser.signIn({ key: app.adminKey })).status, 204)
  })

  it('gives each sign-in a session of its own, and ends one on the server', async () => {
    await using app = await startTestApp()
    const [first, second] = [await signedIn(app), await signedIn(app)]
    assert.notEqual(first.cookie(), second.cookie())
    const stolen = first.cookie()
    assert.equal((await first.signOut()).status, 204)
    const replayed = await fetch(app.addresses.administration + me, { headers: { cookie: stolen } })
    assert.deepEqual(await codeOf(replayed), [401, 'signed_out'])
    assert.equal((await second.get(me)).status, 200)
  })

  it('ends with its key', async () => {
    await using app = await startTestApp()
    const bearer = { authorization: `Bearer ${app.adminKey}` }
    const made = await app.post('/v1/organization/admin_api_keys', { name: 'B', permissions: ['audit:read'] }, bearer)
    const { id, value } = (await made.json()) as { id: string; value: string }
    const browser = openBrowser(app)
    await browser.signIn({ key: value })
    assert.equal((await browser.get(me)).status, 200)
    assert.equal((await browser.get('/v1/organization/projects')).status, 403)
    const revoked = await fetch(`${app.url}/v1/organization/admin_api_keys/${id}`, {
      method: 'DELETE',
      headers: bearer,
    })
    assert.equal(revoked.status, 200)
    assert.deepEqual(await codeOf(await browser.get(me)), [401, 'signed_out'])
  })

  it('ends after 12 hours without use, and after 7 days in any case', async () => {
    let aheadMs = 0
    await using app = await startTestApp({ clock: { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs } })
    const idle = await signedIn(app)
    const used = await signedIn(app)
    for (; aheadMs < 7 * 24 * hourMs; aheadMs += 11 * hourMs) assert.equal((await used.get(me)).status, 200)
    assert.deepEqual(await codeOf(await idle.get(me)), [401, 'signed_out'])
    assert.deepEqual(await codeOf(await used.get(me)), [401, 'signed_out'])
  })

  it('is recorded in the audit log, with the session as the actor of changes', async () => {
    await using app = await startTestApp()
    const browser = await signedIn(app)
    await browser.post('/v1/organization/projects', { name: 'Made in the console' })
    await browser.signOut()
    const list = await app.get('/v1/organization/audit_logs', { authorization: `Bearer ${app.adminKey}` })
    const { data } = (await list.json()) as { data: { kind: string; actor: { type: string } }[] }
    assert.deepEqual(
      data.slice(0, 3).map(({ kind, actor }) => [kind, actor.type]),
      [
        ['console_session.revoked', 'console'],
        ['project.created', 'console'],
        ['console_session.created', 'console'],
      ],
    )
  })
})

describe('a cookie of the console', () => {
  it('does not count at inference endpoints', async () => {
    await using app = await startTestApp()
    const browser = await signedIn(app)
    const body = { model: 'gatehouse-echo', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }
    for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/responses'])
      assert.equal((await browser.post(path, body)).status, 401, path)
    assert.equal((await browser.get('/v1/models')).status, 401)
    assert.equal((await browser.get('/v1/credits')).status, 401)
  })

  it('changes nothing for another site', async () => {
    await using app = await startTestApp()
    const browser = await signedIn(app)
    const forged: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site', 'x-gatehouse-console': '1' },
      { 'sec-fetch-site': 'same-site', 'x-gatehouse-console': '1' },
      { 'sec-fetch-site': 'same-origin' },
      { origin: 'http://evil.example', 'x-gatehouse-console': '1' },
      { 'x-gatehouse-console': '1' },
    ]
    for (const headers of forged) {
      const response = await browser.post('/v1/organization/projects', { name: 'Forged' }, headers)
      assert.deepEqual(await codeOf(response), [403, 'forged_request'], JSON.stringify(headers))
    }
    const own = { origin: app.addresses.administration, 'x-gatehouse-console': '1' }
    assert.equal((await browser.post('/v1/organization/projects', { name: 'Own' }, own)).status, 201)
  })

  it('has a limit of its own, so that neither the key nor the console uses up the other', async () => {
    const limit = { requests_per_minute: 2 }
    await using app = await startTestApp({ config: { administration: { credential: limit, console: limit } } })
    const browser = await signedIn(app)
    const bearer = { authorization: `Bearer ${app.adminKey}` }
    const statuses = async (send: () => Promise<Response>): Promise<number[]> => {
      const responses = [await send(), await send(), await send()]
      return responses.map(({ status }) => status)
    }
    assert.deepEqual(await statuses(() => browser.get(me)), [200, 200, 429])
    assert.deepEqual(await statuses(() => app.get(me, bearer)), [200, 200, 429])
  })

  it('names the address of inference, unless it is its own', async () => {
    const inferenceUrlOf = async (app: TestApp): Promise<unknown> =>
      ((await (await (await signedIn(app)).get(me)).json()) as { inference_url: unknown }).inference_url
    await using shared = await startTestApp()
    assert.equal(await inferenceUrlOf(shared), null)
    await using apart = await startTestApp({ config: { server: { admin_port: 0 } } })
    assert.equal(await inferenceUrlOf(apart), apart.addresses.api)
  })

  it('gives way to a key in the same request', async () => {
    await using app = await startTestApp()
    const browser = await signedIn(app)
    const headers = { cookie: browser.cookie(), authorization: `Bearer ${app.adminKey}` }
    const { actor } = (await (await app.get(me, headers)).json()) as { actor: { type: string } }
    assert.equal(actor.type, 'admin_key')
  })

  it('keeps the networks of its key', async () => {
    await using app = await startTestApp()
    const bearer = { authorization: `Bearer ${app.adminKey}` }
    const made = await app.post('/v1/organization/admin_api_keys', { name: 'B', permissions: ['*'] }, bearer)
    const { id } = (await made.json()) as { id: string }
    const browser = openBrowser(app)
    await browser.signIn({ link: await newLink(app, id) })
    const patched = await fetch(`${app.url}/v1/organization/admin_api_keys/${id}`, {
      method: 'PATCH',
      headers: { ...bearer, 'content-type': 'application/json' },
      body: JSON.stringify({ allowed_ips: ['192.0.2.0/24'] }),
    })
    assert.equal(patched.status, 200)
    assert.deepEqual(await codeOf(await browser.get(me)), [403, 'ip_not_allowed'])
  })

  it('is not given over plain HTTP to another machine', async () => {
    await using app = await startTestApp()
    const headers = { host: 'gateway.example', 'sec-fetch-site': 'same-origin', 'x-gatehouse-console': '1' }
    const { request } = await import('undici')
    const { statusCode, body } = await request(`${app.url}/console/api/sign_in`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ key: app.adminKey }),
    })
    const { error } = (await body.json()) as { error: { code: string } }
    assert.deepEqual([statusCode, error.code], [403, 'insecure_sign_in'])
  })
})
