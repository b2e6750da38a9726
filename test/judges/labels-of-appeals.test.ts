import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { textOf, type Admin, type Json } from '../support/administration.ts'
import { startCalibrationScene } from '../support/calibration-scene.ts'

type Scene = Awaited<ReturnType<typeof openScene>>
/** Of the first person, the second and so on. */
type Answer = 'match' | 'no_match' | 'unsure' | 'silent'

/** A policy in plain language without cases, requests whose texts are kept, and people who label them. */
async function openScene({
  content = 'full',
  ...options
}: { readonly content?: string; readonly labels?: number } = {}) {
  const scene = await startCalibrationScene({ labels: 0, ...options, config: { audit: { content } } })
  const { app, admin } = scene
  const people: Admin[] = []
  for (let at = 0; at < 3; at++) people.push(await app.adminWith(['reviews:read', 'reviews:write', 'policies:read']))
  return {
    ...scene,
    /** Sends a text, appeals against the decision, and lets people say what the rule should do. Returns the appeal. */
    async label(text: string, ...answers: readonly Answer[]): Promise<string> {
      const messages = [{ role: 'user', content: text }]
      const response = await app.post('/v1/messages', { model: 'default-model', max_tokens: 5, messages })
      const request = await admin.get(`/requests/${response.headers.get('x-request-id')}`)
      const body = {
        event_id: request['event_id'],
        note: 'Look at it',
        claim: 'should_be_denied',
        policy_id: scene.policy,
      }
      const appeal = textOf(await admin.post('/appeals', { ...body, direction: 'request' }))
      for (const [at, should] of answers.entries())
        if (should !== 'silent') await people[at]?.post(`/appeals/${appeal}/review`, { should })
      return appeal
    },
    close: (appeal: string, body: object) => people[0]?.post(`/appeals/${appeal}/resolve`, body),
    async run(): Promise<{ readonly calibration: Json; readonly report: Json }> {
      const calibration = await scene.calibrate('file')
      assert.equal(calibration['status'], 'completed', JSON.stringify(calibration))
      return { calibration, report: calibration['report'] as Json }
    },
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  }
}

const leftOutOf = ({ left_out_by: reasons }: Json): Json =>
  Object.fromEntries(Object.entries(reasons as Json).filter(([, count]) => count !== 0))

/** How many questions to the judge had this text. */
const asked = (scene: Scene, text: string): number =>
  scene.judge.requests.filter(({ body }) => body.includes(text)).length

describe('the labels of appeals', () => {
  it('count in a calibration, apart from the cases of policies', async () => {
    await using scene = await openScene({ labels: 4 })
    await scene.label('rude appeal one', 'match')
    const wrong = await scene.label('polite appeal two', 'match')
    const closed = await scene.label('polite appeal three', 'no_match')
    await scene.close(closed, { outcome: 'upheld' })
    const before = asked(scene, 'polite appeal three')
    const { calibration, report } = await scene.run()
    assert.equal(asked(scene, 'polite appeal three') - before, 2)
    assert.equal(report['labels'], 7)
    assert.deepEqual(report['by_source'], {
      cases: { labels: 4, agreement_bp: 10_000, base_rate_bp: 5_000, kappa: 1 },
      appeals: { labels: 3, agreement_bp: 6_667, base_rate_bp: 6_667, kappa: 0.4 },
    })
    assert.deepEqual(report['disagreements'], [
      {
        policy_id: scene.policy,
        count: 1,
        labels: 7,
        cases: [],
        appeals: [{ appeal_id: wrong, expected: 'match', got: 'no_match', score_bp: 1_000 }],
      },
    ])
    assert.deepEqual([calibration['left_out'], leftOutOf(calibration)], [0, {}])
  })

  it('are left out while people are unsure or disagree, and after a dismissal', async () => {
    await using scene = await openScene({ labels: 2 })
    await scene.label('rude, who knows', 'unsure')
    await scene.label('rude for one of two', 'match', 'no_match')
    await scene.label('rude for two of three', 'match', 'no_match', 'match')
    await scene.label('rude without an answer')
    await scene.close(await scene.label('rude test', 'match'), { outcome: 'dismissed' })
    const { calibration, report } = await scene.run()
    assert.partialDeepStrictEqual(report['by_source'], { appeals: { labels: 1 } })
    assert.equal(calibration['left_out'], 3)
    assert.deepEqual(leftOutOf(calibration), { unsure: 1, disagreeing: 1, dismissed: 1 })
  })

  it('of one text count once, also if the text became a case', async () => {
    await using scene = await openScene()
    await scene.label('rude twice', 'match')
    await scene.label('rude twice', 'match', 'match')
    await scene.label('rude in two minds', 'match')
    await scene.label('rude in two minds', 'silent', 'no_match')
    await scene.label('rude, or not', 'match')
    await scene.label('rude, or not', 'no_match')
    await scene.close(await scene.label('rude case', 'match'), { outcome: 'overturned', case: true })
    await scene.label('rude case', 'match')
    const { calibration, report } = await scene.run()
    assert.partialDeepStrictEqual(report['by_source'], {
      cases: { labels: 1 },
      appeals: { labels: 2, base_rate_bp: 5_000 },
    })
    assert.deepEqual(leftOutOf(calibration), { repeated: 4, disagreeing: 2 })
  })

  it('are left out where the text is not kept', async () => {
    await using scene = await openScene({ content: 'none', labels: 2 })
    await scene.label('rude and gone', 'match')
    const { calibration, report } = await scene.run()
    assert.partialDeepStrictEqual(report['by_source'], { cases: { labels: 2 }, appeals: { labels: 0, kappa: null } })
    assert.deepEqual(leftOutOf(calibration), { without_text: 1 })
  })

  it('are enough for a calibration, and the active judge is asked about them each night', async () => {
    await using scene = await openScene()
    const { admin } = scene
    await scene.label('rude one', 'match')
    await scene.label('polite one', 'no_match')
    const judge = textOf(await scene.create())
    const calibration = await scene.calibrate(judge)
    assert.equal((calibration['report'] as Json)['labels'], 2)
    const active = await admin.post(`/judges/${judge}/activate`, { override: { reason: 'There are few labels' } })
    assert.equal(active['nightly_usd'], (2 * 208) / 1_000)
  })
})
