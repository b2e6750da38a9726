import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'

const hello = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

describe('credits of an organization', () => {
  const { app, admin, send } = adminSuite()

  it('are granted once for each reference, as an entry of the ledger', async () => {
    const grant = { credits: 500, ref: 'welcome', reason: 'gift' }
    const first = await send('POST', '/credits/grants', grant)
    assert.partialDeepStrictEqual(first.body, { is_new: true, granted_credits: 10_500, remaining_credits: 10_500 })
    const again = await send('POST', '/credits/grants', grant)
    assert.partialDeepStrictEqual(again.body, { is_new: false, granted_credits: 10_500 })
    const [entry] = itemsOf(await admin().get('/credits/ledger?limit=1'))
    assert.partialDeepStrictEqual(entry, { kind: 'grant', credits: 500, ref: 'welcome', note: 'gift' })
    const [event] = itemsOf(await admin().get('/audit_logs?kind=credits.granted'))
    assert.deepEqual(event?.['details'], { credits: 500, ref: 'welcome', note: 'gift' })
  })

  it('are taken back by a correction, which leaves the grant in the ledger', async () => {
    await admin().post('/credits/grants', { credits: 50, ref: 'typo' })
    const before = Number((await admin().get('/credits'))['granted_credits'])
    const correction = { credits: 45, ref: 'fix typo', reason: '5 were meant' }
    const corrected = await admin().post('/credits/corrections', correction)
    assert.partialDeepStrictEqual(corrected, { is_new: true, granted_credits: before - 45 })
    assert.equal((await admin().post('/credits/corrections', correction))['is_new'], false)
    const entries = itemsOf(await admin().get('/credits/ledger?limit=2'))
    assert.deepEqual(
      entries.map(({ kind, credits, ref }) => [kind, credits, ref]),
      [
        ['correction', -45, 'fix typo'],
        ['grant', 50, 'typo'],
      ],
    )
    const [event] = itemsOf(await admin().get('/audit_logs?kind=credits.corrected'))
    assert.deepEqual(event?.['details'], { credits: 45, ref: 'fix typo', note: '5 were meant' })
  })

  it('that requests have used or reserved cannot be taken back, and the balance stays as it was', async () => {
    assert.equal((await app().post('/v1/messages', hello)).status, 200)
    const before = await admin().get('/credits')
    assert.ok(Number(before['held_credits']) > 0)
    const all = Number(before['remaining_credits'])
    const answer = await send('POST', '/credits/corrections', { credits: all, ref: 'all' })
    assert.deepEqual([answer.status, errorOf(answer)['code']], [409, 'insufficient_credits'])
    assert.match(String(errorOf(answer)['message']), /^Only [\d.]+ credits can be taken back now/)
    assert.deepEqual(await admin().get('/credits'), before)
    const most = Number(/^Only ([\d.]+)/.exec(String(errorOf(answer)['message']))?.[1])
    assert.equal((await send('POST', '/credits/corrections', { credits: most, ref: 'all' })).status, 200)
  })

  it('are bought by a payment, which counts towards the tier', async () => {
    const paid = await admin().post('/credits/payments', { usd: 20, ref: 'invoice-1' })
    assert.equal(paid['is_new'], true)
    assert.partialDeepStrictEqual(await admin().get(''), { lifetime_paid_usd: 20, tier: 'tier_1' })
  })

  it('name the field of an amount that is none', async () => {
    for (const path of ['/credits/grants', '/credits/corrections'])
      for (const credits of [0, -5, '5', 1e300]) {
        const answer = await send('POST', path, { credits })
        assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'credits'])
      }
    const answer = await send('POST', '/credits/payments', { usd: 0, ref: 'r' })
    assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'usd'])
  })
})
