import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { freePort } from '../../../scripts/test/ready.ts'
import { createDecisionAddresses } from '../../../src/domain/appeals/decision-addresses.ts'
import { createKeyring } from '../../../src/domain/server-secret/keyring.ts'
import { dayMs } from '../../../src/base/clock.ts'
import { itemsOf, type Json } from '../../support/administration.ts'
import { openAppealScene, type AppealScene } from '../../support/appeal-scene.ts'
import { createFastClock } from '../../support/fast-clock.ts'
import { operatorOf } from '../../support/operator.ts'
import type { TestAppOptions } from '../../support/app.ts'

const crisis = 'I want to kill myself tonight.'

/** People reach the server at its own address. */
async function openScene(level = 'code', options: TestAppOptions = {}): Promise<AppealScene> {
  const port = await freePort()
  const server = { port, public_url: `http://127.0.0.1:${port}` }
  return openAppealScene({
    ...options,
    config: { audit: { content: 'full' }, server, explanations: { to_callers: level } },
  })
}

const formOf = (note: string) => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams({ note }).toString(),
  redirect: 'manual' as const,
})

describe('the page of a decision', () => {
  let app: AppealScene
  before(async () => (app = await openScene('evidence')))
  after(() => app[Symbol.asyncDispose]())

  it('is linked in the error of a denial, and not in an answer', async () => {
    const policy = await app.deny()
    assert.equal(policy['explain_url'], `${app.url}/v1/decisions/${String(policy['event_id'])}`)
    assert.match(String(policy['appeal_url']), new RegExp(`^${app.url}/d/[\\w-]{74}$`))
    const { body } = await app.ask('Hello')
    assert.doesNotMatch(JSON.stringify(body), /appeal_url/)
  })

  it('says what was denied and by which rule, without words of the text, and needs no script', async () => {
    const { appeal_url: url } = await app.deny('Wilhelmina saw a falcon.')
    const response = await fetch(String(url))
    const html = await response.text()
    assert.equal(response.status, 200)
    assert.match(html, /A request was denied/)
    assert.match(html, /The policy “No code names”, version 1/)
    assert.match(html, /phrase: falcon in message 1/)
    assert.doesNotMatch(html, /Wilhelmina|<script|REFUSE|messages\[/)
    const { headers } = response
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*form-action 'self'/)
    assert.deepEqual(
      ['cache-control', 'x-robots-tag', 'referrer-policy'].map((name) => headers.get(name)),
      ['no-store', 'noindex, nofollow', 'no-referrer'],
    )
  })

  it('names no rule of a category that is always blocked', async () => {
    const { appeal_url: url } = await app.deny(crisis)
    const html = await (await fetch(String(url))).text()
    assert.match(html, /A category that is always blocked/)
    assert.doesNotMatch(html, /self-harm|It acted on/)
  })

  it('takes an appeal once, and shows it with its answer', async () => {
    const policy = await app.deny()
    const url = String(policy['appeal_url'])
    const posted = await fetch(url, formOf('A falcon is a <b>bird</b>.'))
    assert.deepEqual([posted.status, posted.headers.get('location')], [303, url.slice(url.lastIndexOf('/') + 1)])
    assert.match(await (await fetch(url)).text(), /An appeal is open/)
    assert.equal((await fetch(url, formOf('Again.'))).status, 303)
    const appeals = itemsOf(await app.admin.get('/appeals?blind=false')).filter(
      (appeal) => appeal['event_id'] === policy['event_id'],
    )
    assert.deepEqual(
      appeals.map(({ origin, opened_by: by, note }) => [origin, by, note]),
      [['person', null, 'A falcon is a <b>bird</b>.']],
    )
    const id = String(appeals[0]?.['id'])
    const [event] = itemsOf(await app.admin.get(`/audit_logs?resource_id=${id}&kind=appeal.opened`))
    assert.equal((event?.['actor'] as Json | undefined)?.['type'], 'person')
    assert.doesNotMatch(JSON.stringify(event), new RegExp(url.slice(url.lastIndexOf('/') + 1)))
    await app.admin.post(`/appeals/${id}/review`, { should: 'no_match' })
    await app.admin.post(`/appeals/${id}/resolve`, { outcome: 'overturned', reason: '<script>alert(1)</script>' })
    const html = await (await fetch(url)).text()
    assert.match(html, /the decision was wrong/)
    assert.match(html, /&lt;script&gt;alert\(1\)/)
    assert.doesNotMatch(html, /<script|<form/)
  })

  it('shows what is wrong with an appeal, and keeps its text', async () => {
    const { appeal_url: url } = await app.deny()
    const empty = await fetch(String(url), formOf('  '))
    assert.deepEqual([empty.status, /Say in one sentence/.test(await empty.text())], [422, true])
    const long = `"><script>${'x'.repeat(1_000)}`
    const rejected = await fetch(String(url), formOf(long))
    const html = await rejected.text()
    assert.equal(rejected.status, 422)
    assert.match(html, /Shorten it to 1000 characters/)
    assert.match(html, /&quot;&gt;&lt;script&gt;x/)
    const json = await fetch(String(url), { ...formOf('x'), headers: { 'content-type': 'application/json' } })
    assert.deepEqual([json.status, json.headers.get('content-type')], [400, 'text/html; charset=utf-8'])
    const large = await fetch(String(url), formOf('x'.repeat(20_000)))
    assert.equal(large.status, 413)
  })

  it('is not found with one changed character, and not on another installation', async () => {
    await using quiet = await openScene()
    const { appeal_url: url } = await quiet.deny()
    const address = String(url)
    const start = address.lastIndexOf('/') + 1
    for (const at of [start, start + 30, start + 60, address.length - 1]) {
      const changed = address.slice(0, at) + (address[at] === '0' ? '1' : '0') + address.slice(at + 1)
      assert.equal((await fetch(changed)).status, 404, changed)
    }
    assert.equal((await fetch(`${app.url}/d/${address.slice(start)}`)).status, 404)
    const unknown = await fetch(`${quiet.url}/d/x`)
    assert.deepEqual([unknown.status, unknown.headers.get('content-type')], [404, 'text/html; charset=utf-8'])
    assert.equal((await fetch(address)).status, 200)
  })

  it('answers 429 to a client that opens or appeals too often', async () => {
    await using quiet = await openScene()
    const { appeal_url: url } = await quiet.deny()
    const statuses: number[] = []
    for (let at = 0; at < 70; at += 1) statuses.push((await fetch(String(url))).status)
    assert.deepEqual([statuses[0], statuses.at(-1)], [200, 429])
    const posts: number[] = []
    for (let at = 0; at < 8; at += 1) posts.push((await fetch(String(url), formOf('x'))).status)
    assert.deepEqual([posts[0], posts.at(-1)], [303, 429])
  })

  it('survives a rotation of the server secret, and ends with the decision after 30 days', async () => {
    const clock = createFastClock(1)
    await using aging = await openScene('code', { clock })
    const { appeal_url: url } = await aging.deny()
    await operatorOf(aging.app).rotateSecret()
    assert.equal((await fetch(String(url))).status, 200)
    clock.skip(30 * dayMs)
    assert.equal((await fetch(String(url))).status, 404)
  })
})

describe('the address of a decision', () => {
  it('is left out where server.public_url is not set, or explanations.appeals is off', async () => {
    await using plain = await openAppealScene()
    assert.deepEqual(
      Object.keys(await plain.deny()).filter((name) => name.endsWith('_url')),
      [],
    )
    assert.equal((await fetch(`${plain.url}/d/${'0'.repeat(74)}`)).status, 404)
    await assert.rejects(openAppealScene({ config: { explanations: { appeals: true } } }), /needs server\.public_url/)
  })

  it('is read again under the previous server secret only while that is accepted', () => {
    const keyring = createKeyring({ current: 'one' })
    const addresses = createDecisionAddresses(keyring)
    const decision = { organizationId: `org_${'0'.repeat(26)}`, eventId: `evt_${'1'.repeat(26)}` }
    const token = addresses.tokenOf(decision) ?? ''
    assert.deepEqual(addresses.decisionOf(token), decision)
    keyring.use({ current: 'two', previous: 'one' })
    assert.deepEqual(addresses.decisionOf(token), decision)
    assert.notEqual(addresses.tokenOf(decision), token)
    keyring.use({ current: 'two' })
    assert.equal(addresses.decisionOf(token), undefined)
  })

  it('is made for ids of the usual form only', () => {
    const addresses = createDecisionAddresses(createKeyring({ current: 'one' }))
    assert.equal(addresses.tokenOf({ organizationId: 'org_1', eventId: `evt_${'1'.repeat(26)}` }), undefined)
  })
})
