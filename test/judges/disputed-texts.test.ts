import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { errorOf, itemsOf, textOf, type Json } from '../support/administration.ts'
import { isPolite, judgeWith, startCalibrationScene } from '../support/calibration-scene.ts'

/** The job that opens reviews does not wait for ten seconds. */
const clock = {
  ...systemClock,
  after: (ms: number, callback: () => void) => systemClock.after(ms === 10_000 ? 100 : ms, callback),
}

/** A shadow that contradicts the judge of the configuration about each text that is disputed. */
async function openScene(content: string) {
  const scene = await startCalibrationScene({ labels: 0, clock, config: { audit: { content } } })
  const { admin, app } = scene
  const template = { system: 'Shadow: {{rule}}', user: '{{text}}' }
  const judge = textOf(await scene.create({ prompt: { template } }))
  await admin.post(`/judges/${judge}/shadow`, { share_bp: 10_000 })
  scene.judge.answer(
    judgeWith(({ system, text }) => {
      const differs = system.startsWith('Shadow') && text.includes('disputed')
      return isPolite(text) === differs ? 0.9 : 0.1
    }),
  )
  const differences = async (): Promise<readonly Json[]> =>
    (await admin.get(`/judges/${judge}/comparison?limit=100&order=asc`))['differences'] as Json[]
  return {
    ...scene,
    /** Sends a text, and returns the status of the response. */
    send: async (text: string): Promise<number> => {
      const messages = [{ role: 'user', content: text }]
      return (await app.post('/v1/messages', { model: 'default-model', max_tokens: 5, messages })).status
    },
    /** Waits until it is known what becomes of this number of differences. */
    async reviewed(count: number): Promise<readonly Json[]> {
      for (let tries = 0; tries < 400; tries++) {
        const found = (await differences()).filter(
          (each) => each['appeal_id'] !== null || each['not_reviewed'] !== null,
        )
        if (found.length >= count) return found
        await setTimeout(50)
      }
      return assert.fail(JSON.stringify(await differences()))
    },
    appeals: async () => itemsOf(await admin.get('/appeals?limit=100')),
    reviewer: () => app.adminWith(['reviews:read', 'reviews:write', 'content:read', 'policies:read']),
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  }
}

describe('a text on which a shadow and the active judge differ', () => {
  it('is reviewed blindly, by a third person if two disagree, and its labels count in a calibration', async () => {
    await using scene = await openScene('full')
    const { admin, policy } = scene
    assert.deepEqual([await scene.send('polite, disputed'), await scene.send('polite')], [200, 200])
    const [difference] = await scene.reviewed(1)
    const id = String(difference?.['appeal_id'])
    const [first, second, third] = await Promise.all([scene.reviewer(), scene.reviewer(), scene.reviewer()])
    const shown = await first.get(`/appeals/${id}?include=content`)
    assert.partialDeepStrictEqual(shown, { text: 'polite, disputed', claim: null, origin: null, may_review: true })
    assert.equal((shown['policy'] as Json)['id'], policy)
    await first.post(`/appeals/${id}/review`, { should: 'match' })
    const disputed = await second.post(`/appeals/${id}/review`, { should: 'no_match' })
    assert.partialDeepStrictEqual(disputed, {
      needs_third: true,
      origin: 'judge',
      opened_by: null,
      note: null,
      claim: 'should_be_denied',
    })
    const early = await second.send('POST', `/appeals/${id}/resolve`, { body: { outcome: 'upheld' } })
    assert.equal(errorOf(early)['code'], 'labels_disagree')
    await third.post(`/appeals/${id}/review`, { should: 'match' })
    await third.post(`/appeals/${id}/resolve`, { outcome: 'overturned' })
    const { report } = await scene.calibrate('file')
    assert.partialDeepStrictEqual(report, { by_source: { appeals: { labels: 1, agreement_bp: 0 } } })
    const [event] = itemsOf(await admin.get('/audit_logs?kind=appeal.opened'))
    assert.partialDeepStrictEqual(event, { details: { origin: 'judge' }, actor: { type: 'system' } })
  })

  it('can still be appealed by its caller', async () => {
    await using scene = await openScene('full')
    assert.equal(await scene.send('rude, disputed'), 400)
    const [difference] = await scene.reviewed(1)
    const path = `/v1/decisions/${String(difference?.['event_id'])}`
    const decision = (await (await scene.app.get(path)).json()) as { appeal: Json }
    assert.partialDeepStrictEqual(decision.appeal, { allowed: true, state: null })
    assert.equal((await scene.app.post(`${path}/appeal`, { note: 'I was polite.' })).status, 201)
    const origins = (await scene.appeals()).map((appeal) => appeal['policy'])
    assert.equal(origins.length, 2)
  })

  it('is not reviewed where it is not kept', async () => {
    await using scene = await openScene('none')
    await scene.send('polite, disputed')
    assert.partialDeepStrictEqual(await scene.reviewed(1), [{ appeal_id: null, not_reviewed: 'no_text' }])
    assert.deepEqual(await scene.appeals(), [])
  })

  it('is one of twenty a day at most', async () => {
    await using scene = await openScene('full')
    // A node asks a shadow about four texts at once at most, and leaves the others out.
    for (let at = 0; at < 22; at++) {
      await scene.send(`polite, disputed ${at}`)
      await scene.reviewed(at + 1)
    }
    const found = await scene.reviewed(22)
    assert.equal(found.filter(({ appeal_id: id }) => id !== null).length, 20)
    assert.deepEqual(
      found.slice(20).map(({ not_reviewed: why }) => why),
      ['over_limit', 'over_limit'],
    )
    assert.equal((await scene.appeals()).length, 20)
  })
})
