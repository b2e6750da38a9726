import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { scheduler } from 'node:timers/promises'
import { minuteMs, systemClock, type Clock } from '../../src/base/clock.ts'
import { itemsOf, startAdminApp, textOf, type AdminApp, type Json } from '../support/administration.ts'
import { mailAuthorityFile, startMailServer } from '../support/mail-server.ts'
import { startReceiver, type Received } from '../support/receiver.ts'

const secret = 'a-secret-of-the-webhook-0123'

/** Not a minute, which the clock of these tests shortens. */
const serverSettings = { request_timeout_ms: 50_000 }

/** The system time, moved ahead by hand. Work of each minute runs all the time. */
function createSkippingClock(): Clock & { skip(ms: number): void } {
  let skippedMs = 0
  return {
    nowMs: () => systemClock.nowMs() + skippedMs,
    monotonicMs: () => systemClock.monotonicMs(),
    after: (delayMs, callback) => systemClock.after(delayMs === minuteMs ? 20 : delayMs, callback),
    skip: (ms) => void (skippedMs += ms),
  }
}

const send = (app: AdminApp, content: string): Promise<Response> =>
  app.post('/v1/messages', { model: 'gatehouse-echo', max_tokens: 16, messages: [{ role: 'user', content }] })

async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await read()
    if (found !== undefined) return found
    await scheduler.wait(20)
  }
}

const alertsOf = async (app: AdminApp, query = ''): Promise<Json[]> => itemsOf(await app.admin.get(`/alerts${query}`))

const ruleState = async (app: AdminApp, id: string): Promise<unknown> =>
  (await app.admin.get(`/alert_rules/${id}`))['state']

/** Skips minutes until the rule is in this state. */
async function passUntil(
  app: AdminApp,
  clock: { skip(ms: number): void },
  [id, state]: readonly [string, string],
): Promise<void> {
  await until(async () => {
    if ((await ruleState(app, id)) === state) return true
    clock.skip(minuteMs)
    await scheduler.wait(60)
    return undefined
  })
}

describe('alerts of a running app', () => {
  it('reach a webhook that fails first, once when they begin and once when they are over', async (t) => {
    const clock = createSkippingClock()
    let failures = 2
    const receiver = await startReceiver(t, () => ({ status: failures-- > 0 ? 503 : 200 }))
    await using app = await startAdminApp({
      clock,
      config: { server: serverSettings, exports: { allow_addresses: ['127.0.0.0/8'] } },
    })
    const policy = textOf(
      await app.admin.post('/policies', { name: 'P', mode: 'enforcing', rule: 'Never say "heron".' }),
    )
    await app.admin.post(`/policies/${policy}/publish`, { revision: 1 })
    const channel = textOf(
      await app.admin.post('/alert_channels', {
        kind: 'webhook',
        name: 'Hook',
        config: { url: receiver.origin, secret },
      }),
    )
    const rule = textOf(
      await app.admin.post('/alert_rules', {
        kind: 'denials',
        name: 'Denials',
        unit: 'count',
        threshold: 2,
        window: '5m',
        channel_ids: [channel],
      }),
    )
    for (let count = 0; count < 3; count++) assert.equal((await send(app, 'About the heron')).status, 400)
    await passUntil(app, clock, [rule, 'firing'])
    const [alert] = await alertsOf(app, '?state=firing')
    assert.partialDeepStrictEqual(alert, { figure: 3, threshold: 2, title: 'Denials are over 2', rule_id: rule })
    const delivered = (): Received[] => receiver.requests.filter((_, at) => at >= 2)
    await until(async () => {
      clock.skip(minuteMs / 2)
      await scheduler.wait(50)
      return delivered()[0]
    })
    await passUntil(app, clock, [rule, 'ok'])
    await until(async () => delivered()[1])
    const [fired, resolved] = delivered()
    assert.ok(fired && resolved)
    assertSigned(fired)
    const bodies = [fired, resolved].map(({ text }) => JSON.parse(text) as { type: string; data: Json })
    assert.deepEqual(
      bodies.map(({ type, data }) => [type, data['id']]),
      [
        ['alert.fired', alert?.['id']],
        ['alert.resolved', alert?.['id']],
      ],
    )
    assert.match(String(bodies[0]?.data['url']), /^http:\/\/.*\/console\/requests\?status=denied&from=\d+&to=\d+$/)
    assert.doesNotMatch(fired.text, /heron/)
    const ids = receiver.requests.slice(0, 3).map(({ headers }) => headers['webhook-id'])
    assert.equal(new Set(ids).size, 1)
    const [over] = await alertsOf(app)
    const deliveries = over?.['deliveries'] as Json[]
    assert.deepEqual(
      deliveries.map(({ event, state, attempts }) => [event, state, attempts]),
      [
        ['fired', 'sent', 3],
        ['resolved', 'sent', 1],
      ],
    )
    const metrics = await (await app.get('/metrics')).text()
    assert.match(metrics, /gatehouse_alerts_total\{kind="denials",event="fired"\} 1/)
    assert.match(metrics, /gatehouse_alert_messages_total\{channel="webhook",result="sent"\} 2/)
    const kinds = itemsOf(await app.admin.get('/audit_logs')).map((entry) => entry['kind'])
    assert.ok(kinds.includes('alert.fired') && kinds.includes('alert.resolved'))
  })

  it('reach a mailbox by STARTTLS', async () => {
    await using server = await startMailServer()
    await using app = await startAdminApp({
      config: {
        mail: { smtp_url: server.url('ada:pa%20ss@'), from: 'alerts@example.com', ca_file: mailAuthorityFile },
      },
    })
    const channel = { kind: 'email', name: 'Mail', config: { to: ['oncall@example.com'] } }
    const id = textOf(await app.admin.post('/alert_channels', channel))
    const test = await app.admin.post(`/alert_channels/${id}/test`)
    assert.deepEqual([test['success'], String(test['message']).slice(0, 29)], [true, 'The mail server answered: 250'])
    const [mail] = await server.received(1)
    assert.deepEqual([mail?.isEncrypted, mail?.user, mail?.to], [true, 'ada', ['oncall@example.com']])
    assert.match(mail?.text ?? '', /Test: the alert channel Mail works/)
  })

  it('say which key and budget are near their limit, which key expires and which policy is paused', async () => {
    const clock = createSkippingClock()
    const tiers = { free: { rpm: 0, rpd: 10, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } } }
    await using app = await startAdminApp({ clock, config: { server: serverSettings, limits: { tiers } } })
    const expiresAt = Math.floor(clock.nowMs() / 1000) + 3 * 86_400
    await app.admin.post(`/projects/${app.projectId}/api_keys`, { name: 'Old key', expires_at: expiresAt })
    const policy = textOf(await app.admin.post('/policies', { name: 'Quiet', mode: 'enforcing', rule: 'Say "no"' }))
    await app.admin.post(`/policies/${policy}/publish`, { revision: 1 })
    await app.admin.post(`/policies/${policy}/pause`, { revision: 2 })
    await app.admin.post('/budgets', { name: 'Team', requests: 10, period: 'month' })
    for (let count = 0; count < 9; count++) assert.equal((await send(app, 'Hello')).status, 200)
    const rules = await Promise.all(
      [
        { kind: 'key_near_limit', name: 'Limit' },
        { kind: 'budget_near_limit', name: 'Budgets' },
        { kind: 'key_expiring', name: 'Expiry' },
        { kind: 'policy_paused', name: 'Paused' },
      ].map(async (rule) => textOf(await app.admin.post('/alert_rules', rule))),
    )
    for (const rule of rules) await passUntil(app, clock, [rule, 'firing'])
    const titles = (await alertsOf(app, '?state=firing')).map((alert) => String(alert['title'])).toSorted()
    assert.deepEqual(
      titles.map((title) => title.replaceAll(/\d{4}-\d\d-\d\d/g, 'DATE')),
      [
        'The budget Team is used by 90 %',
        'The key First policy gateway key has used 90 % of its day limit',
        'The key Old key expires on DATE',
        'The policy Quiet is paused',
      ],
    )
  })
})

function assertSigned({ headers, text }: Received): void {
  const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']]
  const signature = createHmac('sha256', secret)
    .update(`${String(id)}.${String(timestamp)}.${text}`)
    .digest('base64')
  assert.equal(headers['webhook-signature'], `v1,${signature}`)
}
