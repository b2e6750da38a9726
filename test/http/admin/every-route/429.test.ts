import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '../../../../src/base/clock.ts'
import { errorOf, startAdminApp, type Answer } from '../../../support/administration.ts'
import { adminRoutes, idsIn, pathOf, titleOf } from '../../../support/administration-routes.ts'

const many = { requests_per_minute: 1_000_000, concurrent_requests: 1_000_000 }

const limitHeaders = (answer: Answer) =>
  ['limit', 'remaining', 'reset', 'scope', 'metric'].map((name) => answer.headers.get(`x-ratelimit-${name}`))

/** A clock that the test advances; only requests read it here. */
function standingClock() {
  const startMs = Date.UTC(2030, 0, 1)
  let passedMs = 0
  return {
    ...systemClock,
    nowMs: () => startMs + passedMs,
    monotonicMs: () => passedMs,
    pass: (ms: number) => void (passedMs += ms),
    seconds: () => Math.floor((startMs + passedMs) / 1000),
  }
}

describe('the limits of administration', () => {
  it('reject a credential above its limit per minute, and admit it again after Retry-After', async () => {
    const clock = standingClock()
    const administration = { credential: { ...many, requests_per_minute: 3 }, organization: many }
    await using app = await startAdminApp({ clock, config: { administration } })
    await app.admin.get('/policies')
    clock.pass(20_000)
    await app.admin.get('/policies')
    await app.admin.get('/policies')
    clock.pass(500)
    const rejected = await app.admin.send('GET', '/policies')
    assert.equal(rejected.status, 429)
    assert.equal(errorOf(rejected)['type'], 'rate_limit_error')
    assert.equal(errorOf(rejected)['code'], 'rate_limit_exceeded')
    assert.equal(rejected.headers.get('retry-after'), '40')
    assert.deepEqual(limitHeaders(rejected), ['3', '0', String(clock.seconds() + 40), 'credential', 'requests'])
    clock.pass(39_000)
    assert.equal((await app.admin.send('GET', '/policies')).headers.get('retry-after'), '1')
    clock.pass(1_000)
    assert.equal((await app.admin.send('GET', '/policies')).status, 200)
  })

  it('reject an organization above its limit per minute, whichever key it uses', async () => {
    const administration = { credential: many, organization: { ...many, requests_per_minute: 2 } }
    await using app = await startAdminApp({ clock: standingClock(), config: { administration } })
    const colleague = await app.adminWith(['*'])
    const stranger = (await app.otherOrganization()).admin
    await app.admin.get('/policies')
    await colleague.get('/policies')
    const rejected = await app.admin.send('GET', '/policies')
    assert.equal(rejected.status, 429)
    assert.deepEqual(limitHeaders(rejected).slice(3), ['organization', 'requests'])
    assert.equal((await stranger.send('GET', '/policies')).status, 200)
  })

  it('reject more concurrent requests than allowed, and admit the next one when one has ended', async () => {
    const administration = { credential: { ...many, concurrent_requests: 2 }, organization: many }
    await using app = await startAdminApp({ config: { administration } })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        app.admin.send('POST', '/policies', { body: { name: `P${at}`, rule: 'Say "no"' } }),
      ),
    )
    const rejected = answers.filter(({ status }) => status === 429)
    assert.ok(rejected.length > 0)
    assert.ok(answers.filter(({ status }) => status === 201).length >= 2)
    for (const answer of rejected) {
      assert.equal(answer.headers.get('retry-after'), '1')
      assert.deepEqual([limitHeaders(answer)[0], limitHeaders(answer)[4]], ['2', 'concurrent_requests'])
    }
    assert.equal((await app.admin.send('GET', '/policies')).status, 200)
  })

  it('count on every route, before permission and body are checked', async () => {
    const administration = { credential: { ...many, requests_per_minute: 1 }, organization: many }
    await using app = await startAdminApp({ clock: standingClock(), config: { administration } })
    for (const route of adminRoutes) {
      const holder = await app.adminWith([route.permission === 'usage:read' ? 'audit:read' : 'usage:read'])
      const send = () => holder.send(route.method, pathOf(route, {}), { body: route.body })
      const open = idsIn(route).length > 0 ? 404 : 200
      assert.equal((await send()).status, route.permission === undefined ? open : 403, titleOf(route))
      assert.equal((await send()).status, 429, titleOf(route))
    }
  })
})
