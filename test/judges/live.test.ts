import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, textOf, type Json } from '../support/administration.ts'
import { agreeing, calibrate, isPolite, judgeWith, startCalibrationScene } from '../support/calibration-scene.ts'
import { publish } from '../support/judge-scene.ts'

type Scene = Awaited<ReturnType<typeof startCalibrationScene>>

const send = ({ app }: Scene, content: string): Promise<Response> =>
  app.post('/v1/messages', { model: 'default-model', max_tokens: 50, messages: [{ role: 'user', content }] })

/** Waits until what was counted is written. */
async function until<T>(read: () => Promise<T>, isThere: (found: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 200; tries++) {
    const found = await read()
    if (isThere(found)) return found
    await setTimeout(50)
  }
  return assert.fail('it did not happen')
}

const override = { override: { reason: 'Only for this test, today' } }

describe('a shadow', () => {
  it('never delays a request and never decides, and where it differs the request is named', async () => {
    await using scene = await startCalibrationScene({ labels: 0 })
    const { admin } = scene
    const judge = textOf(await scene.create({ prompt: { template: { system: 'Shadow: {{rule}}', user: '{{text}}' } } }))
    const shadowed = await admin.post(`/judges/${judge}/shadow`, { share_bp: 10_000 })
    assert.deepEqual([shadowed['state'], shadowed['shadow']], ['shadow', { version: 1, share_bp: 10_000 }])
    const hanging = Promise.withResolvers<void>()
    scene.judge.answer(
      judgeWith(async ({ system, text }) => {
        if (!system.startsWith('Shadow')) return isPolite(text) ? 0.1 : 0.9
        await hanging.promise
        return 0.9 // also about polite texts
      }),
    )
    // Both requests end while the calls of the shadow still hang.
    assert.equal((await send(scene, 'polite words')).status, 200)
    assert.equal((await send(scene, 'rude words')).status, 400)
    hanging.resolve()
    const comparison = await until(
      () => admin.get(`/judges/${judge}/comparison`),
      (found) => found['compared'] === 2,
    )
    assert.deepEqual([comparison['agreed'], comparison['differed']], [1, 1])
    const [difference] = comparison['differences'] as Json[]
    assert.partialDeepStrictEqual(difference, { policy_id: scene.policy, active_bp: 1_000, shadow_bp: 9_000 })
    const events = itemsOf(await admin.get('/audit_logs?kind=gateway.request.decided'))
    assert.ok(events.some(({ id }) => id === difference?.['event_id']))
    // The same text is remembered by the active judge, and not compared again.
    assert.equal((await send(scene, 'polite words')).status, 200)
    assert.equal((await admin.post(`/judges/${judge}/shadow`, { share_bp: 0 }))['shadow'], null)
    assert.equal((await send(scene, 'polite others')).status, 200)
    const costs = await until(
      () => admin.get(`/judges/${judge}/costs`),
      (found) => (found['total'] as Json)['asked'] === 2,
    )
    assert.partialDeepStrictEqual(costs, { policies: [{ policy_id: scene.policy, asked: 2, usd: 0.416 }] })
  })

  it('is asked about a share of the texts, and always about the same ones', async () => {
    await using scene = await startCalibrationScene({ labels: 0 })
    const judge = textOf(await scene.create({ prompt: { template: { system: 'Shadow: {{rule}}', user: '{{text}}' } } }))
    await scene.admin.post(`/judges/${judge}/shadow`, { share_bp: 3_000 })
    for (let at = 0; at < 40; at++) await send(scene, `polite ${at}`)
    const compared = await until(
      async () => scene.judge.requests.filter(({ body }) => body.includes('Shadow')).length,
      (count) => count > 0,
    )
    assert.ok(compared < 30, String(compared))
  })
})

describe('the costs of a judge', () => {
  it('tell what was asked, remembered, skipped by the guard of a policy, and spent', async () => {
    await using scene = await startCalibrationScene({ labels: 0 })
    const { admin } = scene
    const guarded = textOf((await publish(scene.app, 'Be kind.', { judge_when: 'text.contains("money")' })).body)
    const before = scene.judge.requests.length
    assert.equal((await send(scene, 'polite talk')).status, 200) // of two policies, one is skipped
    assert.equal(scene.judge.requests.length - before, 1)
    assert.equal((await send(scene, 'polite money')).status, 200)
    assert.equal(scene.judge.requests.length - before, 3)
    const [, first] = itemsOf(await admin.get('/audit_logs?kind=gateway.request.decided'))
    const { details } = first as { details: Json }
    const results = details['results'] as Json[]
    assert.deepEqual(results.find((result) => result['policy_id'] === guarded)?.['judge'], 'skipped')
    const costs = await until(
      () => admin.get('/judges/file/costs'),
      (found) => (found['total'] as Json)['asked'] === 3 && (found['total'] as Json)['skipped'] === 1,
    )
    const ofGuarded = (costs['policies'] as Json[]).find((each) => each['policy_id'] === guarded)
    assert.deepEqual(ofGuarded, { policy_id: guarded, asked: 1, remembered: 0, skipped: 1, failed: 0, usd: 0.208 })
    assert.equal((costs['days'] as Json[]).length, 1)
  })

  it('of a guard that fails include the question, because a guard is no rule', async () => {
    await using scene = await startCalibrationScene({ labels: 0 })
    await publish(scene.app, 'Be kind.', { judge_when: 'metadata.missing == "x"' })
    assert.equal((await send(scene, 'rude talk')).status, 400)
    assert.equal(scene.judge.requests.length, 2)
  })

  it('are limited by the budget of the judge over all nodes', async () => {
    await using scene = await startCalibrationScene({ labels: 0 })
    const judge = textOf(await scene.create({ max_usd_per_day: 1 }))
    await scene.admin.post(`/judges/${judge}/activate`, override)
    const statuses: number[] = []
    for (let at = 0; at < 8; at++) statuses.push((await send(scene, `polite ${at}`)).status)
    assert.ok(statuses.includes(200) && statuses.includes(400), statuses.join())
    assert.ok(scene.judge.requests.length <= 4)
  })
})

describe('the guard of a policy', () => {
  it('is rejected with its position if it is no expression', async () => {
    await using scene = await startCalibrationScene({ labels: 0 })
    const body = { name: 'Guarded', rule: 'Be kind.', judge_when: 'text.contains(' }
    const answer = await scene.admin.send('POST', '/policies', { body })
    const error = errorOf(answer)
    assert.deepEqual([answer.status, error['param']], [422, 'judge_when'])
    assert.match(String(error['message']), /^judge_when: line 1, column \d+: /)
  })
})

describe('a judge whose model changes', () => {
  it('raises one alarm, which the audit log, the overview and the metrics show', async () => {
    await using scene = await startCalibrationScene()
    const { admin } = scene
    const judge = textOf(await scene.create())
    await scene.calibrate(judge)
    await admin.post(`/judges/${judge}/activate`, {})
    await until(
      () => admin.get(`/judges/${judge}`),
      (found) => (found['seen'] as Json[])[0]?.['model'] === 'judge-model',
    )
    scene.judge.answer(judgeWith(({ text }) => (isPolite(text) ? 0.1 : 0.9), 'judge-model-2'))
    for (let at = 0; at < 5; at++) await send(scene, `polite question ${at}`)
    const { alarms } = await until(
      () => admin.get(`/judges/${judge}`),
      (found) => (found['alarms'] as Json[]).length > 0,
    )
    assert.deepEqual(
      (alarms as Json[]).map(({ kind, text }) => [kind, text]),
      [['model', 'The upstream judge answered as judge-model and now answers as judge-model-2.']],
    )
    await send(scene, 'polite question 9')
    assert.equal(itemsOf(await admin.get('/audit_logs?kind=judge_alarm.fired')).length, 1)
    const { attention } = await admin.get('/overview')
    assert.ok((attention as Json[]).some(({ kind }) => kind === 'judge_drift'))
    const metrics = await (await scene.app.get('/metrics')).text()
    assert.match(metrics, /gatehouse_judge_alarms_total\{kind="model"\} 1\n/)
  })
})

describe('the publish gate', () => {
  it('warns of a judge that was never calibrated, and requires a calibration where it is set to', async () => {
    await using scene = await startCalibrationScene({ labels: 4 })
    const { admin, policy } = scene
    await admin.send('PATCH', `/policies/${policy}`, { body: { revision: 2, rule: 'Be very polite.' } })
    const judgeCheck = async (): Promise<Json | undefined> => {
      const run = await admin.post(`/policies/${policy}/gate`, { revision: 3 })
      return (run['checks'] as Json[]).find(({ kind }) => kind === 'judge')
    }
    assert.partialDeepStrictEqual(await judgeCheck(), { level: 'warn', state: 'not_run' })
    await admin.send('PUT', '/publish_gate', { body: { revision: 0, judge: { level: 'require' } } })
    const refused = await admin.send('POST', `/policies/${policy}/publish`, { body: { revision: 3 } })
    assert.deepEqual([refused.status, errorOf(refused)['code']], [409, 'gate_not_passed'])
    scene.judge.answer(agreeing)
    await calibrate(admin, 'file')
    assert.partialDeepStrictEqual(await judgeCheck(), { level: 'require', state: 'passed', of: 30 })
    assert.equal((await admin.send('POST', `/policies/${policy}/publish`, { body: { revision: 3 } })).status, 200)
  })
})
