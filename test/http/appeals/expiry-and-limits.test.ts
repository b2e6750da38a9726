import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayMs, hourMs } from '../../../src/base/clock.ts'
import { errorOf, itemsOf, textOf, type Json } from '../../support/administration.ts'
import { openAppealScene } from '../../support/appeal-scene.ts'
import { createFastClock } from '../../support/fast-clock.ts'
import { createScratchDatabase, withoutPostgres } from '../../support/postgres.ts'

describe('appeals', () => {
  it('are 20 an hour for a key, which the answer says, and then some more', async () => {
    const clock = createFastClock(1)
    await using app = await openAppealScene({ clock })
    const open = async () => app.appeal(String((await app.deny())['event_id']))
    for (let at = 0; at < 20; at += 1) assert.equal((await open()).status, 201)
    const limited = await open()
    assert.deepEqual([limited.status, errorOf(limited)['code']], [429, 'rate_limit_exceeded'])
    const seconds = Number(limited.headers.get('retry-after'))
    assert.ok(seconds > 3_500 && seconds <= 3_600, String(seconds))
    clock.skip(hourMs)
    assert.equal((await open()).status, 201)
  })

  it('expire after 30 days, to the second, and with one event', async () => {
    const clock = createFastClock(1)
    await using app = await openAppealScene({ clock })
    const { event_id: eventId } = await app.deny()
    const id = textOf((await app.appeal(String(eventId))).body)
    const read = async () => (await app.admin.get(`/appeals/${id}`)) as { state: string; expires_at: number }
    const { expires_at: end } = await read()
    clock.skip(end * 1000 - 2_000 - clock.nowMs())
    assert.equal((await read()).state, 'open')
    clock.skip(30 * dayMs)
    assert.equal((await read()).state, 'expired')
    const late = await app.admin.send('POST', `/appeals/${id}/review`, { body: { should: 'match' } })
    assert.deepEqual([late.status, errorOf(late)['code']], [409, 'invalid_state'])
    assert.equal(((await app.decision(String(eventId)))['appeal'] as Json)['state'], 'expired')
  })
})

describe('appeals on two nodes', { skip: withoutPostgres }, () => {
  it('are opened once, when both are asked at the same time', async () => {
    await using scratch = await createScratchDatabase()
    const storage = { database_url: scratch.url }
    const secret = 'a-secret-of-both-nodes'
    await using one = await openAppealScene({ config: { storage, secret, audit: { content: 'full' } } })
    await using other = await openAppealScene({
      isFirst: false,
      config: { storage, secret, audit: { content: 'full' } },
    })
    for (let at = 0; at < 5; at += 1) {
      const { event_id: eventId } = await one.deny()
      const answers = await Promise.all([one, other].map((node) => node.appeal(String(eventId), 'x', one.apiKey)))
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [201, 409],
      )
    }
    assert.equal(itemsOf(await one.admin.get('/audit_logs?kind=appeal.opened')).length, 5)
  })
})
