import assert from 'node:assert/strict'
import { scheduler } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { itemsOf, startAdminApp, textOf, type AdminApp, type Json } from '../../../support/administration.ts'

describe('the decisions of policies', () => {
  let app: AdminApp
  const ids: Record<string, string> = {}
  before(async () => {
    app = await startAdminApp()
    for (const [name, mode, word] of [
      ['Enforced', 'enforcing', 'falcon'],
      ['Recorded', 'monitoring', 'heron'],
    ] as const) {
      const rule = `cel:text.contains("${word}")`
      ids[name] = textOf(await app.admin.post('/policies', { name, rule, mode, direction: 'request' }))
      await app.admin.post(`/policies/${ids[name]}/publish`, { revision: 1 })
    }
    ids['Draft'] = textOf(await app.admin.post('/policies', { name: 'Draft', rule: 'cel:true', scope: 'unattached' }))
    for (const content of ['falcon', 'heron', 'heron again', 'sparrow'])
      await app.post('/v1/messages', {
        model: 'gatehouse-echo',
        max_tokens: 16,
        messages: [{ role: 'user', content }],
      })
  })
  after(() => app[Symbol.asyncDispose]())

  /** Counts are written every two seconds. */
  async function counted(policyId = ''): Promise<Json[]> {
    for (;;) {
      const hours = itemsOf(await app.admin.get(`/policies/${policyId}/decisions`))
      const requests = hours.flatMap(({ enforced, recorded }) => [enforced, recorded] as { requests: number }[])
      if (requests.reduce((sum, each) => sum + each.requests, 0) === 4) return hours
      await scheduler.wait(100)
    }
  }

  it('are counted by hour and version, apart for what was enforced and what was only recorded', async () => {
    const none = { requests: 0, denied: 0 }
    for (const { version, enforced, recorded } of await counted(ids['Enforced'])) {
      assert.equal(version, 1)
      assert.deepEqual([enforced, recorded], [{ requests: 4, denied: 1 }, none])
    }
    for (const { enforced, recorded } of await counted(ids['Recorded']))
      assert.deepEqual([enforced, recorded], [none, { requests: 4, denied: 2 }])
    const later = await app.admin.get(`/policies/${ids['Recorded']}/decisions?from=4000000000`)
    assert.deepEqual(itemsOf(later), [])
  })

  it('are in the list on request, with the hours of a day, the mode and the scope', async () => {
    await counted(ids['Enforced'])
    await counted(ids['Recorded'])
    const listed = itemsOf(await app.admin.get('/policies?include=stats&order=asc'))
    const shown = listed.map(({ name, mode, scope, stats }) => ({ name, mode, scope, ...(stats as object) }))
    const sums = (requests: number, matches: number, denials: number) => ({
      requests_24h: requests,
      matches_24h: matches,
      denials_24h: denials,
    })
    assert.partialDeepStrictEqual(shown, [
      { name: 'Enforced', mode: 'enforcing', scope: 'organization', ...sums(4, 1, 1) },
      { name: 'Recorded', mode: 'monitoring', scope: 'organization', ...sums(4, 2, 0) },
      { name: 'Draft', mode: 'monitoring', scope: 'unattached', ...sums(0, 0, 0) },
    ])
    const { matches_by_hour: hours } = shown[1] as unknown as { matches_by_hour: number[] }
    assert.equal(hours.length, 24)
    assert.equal(
      hours.reduce((sum, each) => sum + each, 0),
      2,
    )
    const [plain] = itemsOf(await app.admin.get('/policies?order=asc'))
    assert.deepEqual(
      ['mode', 'scope', 'stats'].filter((field) => field in (plain ?? {})),
      [],
    )
  })

  it('of the gateway configuration are counted for both arms of a canary', async () => {
    const canary = { enabled: true, sample_percent: 50, targets: [] }
    const config = { rules: { denylist: ['forbidden'] }, rollout: { canary } }
    const headers = { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' }
    const address = `${app.url}/api/policy-gateway/config`
    const saved = await fetch(address, { method: 'PUT', headers, body: JSON.stringify(config) })
    assert.equal(saved.status, 200, await saved.text())
    for (let user = 0; user < 20; user++)
      await app.post('/v1/messages', {
        model: 'gatehouse-echo',
        max_tokens: 16,
        metadata: { user_id: `user-${user}` },
        messages: [{ role: 'user', content: user % 2 === 0 ? 'forbidden' : 'allowed' }],
      })
    const arm = (hours: readonly Json[], name: string): number[] => {
      const counts = hours.map((hour) => hour[name] as { requests: number; denied: number })
      return [counts.reduce((sum, each) => sum + each.requests, 0), counts.reduce((sum, each) => sum + each.denied, 0)]
    }
    for (;;) {
      const hours = itemsOf(await app.admin.get('/gateway/decisions'))
      const [enforced = 0, denied = 0] = arm(hours, 'enforced')
      const [recorded = 0, wouldDeny = 0] = arm(hours, 'recorded')
      if (enforced + recorded === 20) {
        assert.ok(enforced > 0 && recorded > 0, `${enforced} and ${recorded}`)
        assert.equal(denied + wouldDeny, 10)
        return
      }
      await scheduler.wait(100)
    }
  })

  it('of another organization cannot be read', async () => {
    const { admin } = await app.otherOrganization()
    assert.equal((await admin.send('GET', `/policies/${ids['Enforced']}/decisions`)).status, 404)
    assert.deepEqual(itemsOf(await admin.get('/gateway/decisions')), [])
  })
})
