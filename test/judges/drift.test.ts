import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { dayMs, minuteMs, systemClock, type Clock } from '../../src/base/clock.ts'
import { itemsOf, textOf, type Admin, type Json } from '../support/administration.ts'
import { agreeing, isPolite, judgeWith, startCalibrationScene } from '../support/calibration-scene.ts'
import { createFastClock } from '../support/fast-clock.ts'

const contradicting = judgeWith(({ text }) => (isPolite(text) ? 0.9 : 0.1))

/** The system time, with days that are skipped. The job that watches judges does not wait for ten minutes. */
function createSkippingClock(): Clock & { skip(ms: number): void } {
  const clock = createFastClock(1)
  return { ...clock, after: (ms, callback) => systemClock.after(ms === 10 * minuteMs ? 100 : ms, callback) }
}

async function openScene(options: { readonly labels?: number } = {}) {
  const clock = createSkippingClock()
  const scene = await startCalibrationScene({ ...options, clock })
  return { ...scene, skipDay: () => clock.skip(dayMs) }
}

/** Reads until it is so. */
async function until<T>(read: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 200; tries++) {
    const found = await read()
    if (isSo(found)) return found
    await setTimeout(50)
  }
  assert.fail('it did not come')
}

const alarmsOf = ({ alarms }: Json): unknown[] => (alarms as Json[]).map(({ kind }) => kind)

const checksOf = async (admin: Admin, judge = 'file'): Promise<Json[]> =>
  itemsOf(await admin.get(`/judges/${judge}/calibrations`)).filter(
    ({ kind, status }) => kind === 'drift' && status === 'completed',
  )

const driftItems = async (admin: Admin): Promise<unknown[]> =>
  ((await admin.get('/overview'))['attention'] as Json[])
    .filter(({ kind }) => kind === 'judge_drift')
    .map(({ object_id: id }) => id)

const eventsOf = async (admin: Admin, kind: string): Promise<unknown[]> =>
  itemsOf(await admin.get(`/audit_logs?kind=judge_alarm.${kind}&order=asc`)).map(({ details }) => details)

describe('the judge of the configuration', () => {
  it('is asked about the same 50 labels each night, and an alarm begins and ends with its kappa', async () => {
    await using scene = await openScene()
    const { admin } = scene
    await scene.calibrate('file')
    assert.equal((await admin.get('/judges/file'))['nightly_usd'], (50 * 208) / 1_000)
    scene.skipDay()
    const [first] = await until(
      () => checksOf(admin),
      (checks) => checks.length === 1,
    )
    assert.partialDeepStrictEqual(first, { created_by: null, total: 50, report: { labels: 50, kappa: 1 } })
    assert.deepEqual(alarmsOf(await admin.get('/judges/file')), [])

    scene.judge.answer(contradicting)
    scene.skipDay()
    const { alarms } = await until(
      () => admin.get('/judges/file'),
      (judge) => alarmsOf(judge).length > 0,
    )
    assert.partialDeepStrictEqual(alarms, [{ kind: 'kappa', text: 'Its kappa on the same labels fell from 1 to -1.' }])
    assert.deepEqual(await driftItems(admin), ['file'])
    const metrics = await (await scene.app.get('/metrics')).text()
    assert.match(metrics, /gatehouse_judge_alarms_total\{kind="kappa"\} 1\n/)

    scene.judge.answer(agreeing)
    scene.skipDay()
    await until(
      () => driftItems(admin),
      (items) => items.length === 0,
    )
    assert.equal((await eventsOf(admin, 'fired')).length, 1)
    assert.deepEqual(await eventsOf(admin, 'resolved'), [{ alarm: 'kappa', version: 0, in_use: true }])
  })

  it('is checked for each organization that calibrated it, unless it has an active judge of its own', async () => {
    await using scene = await openScene({ labels: 4 })
    const { admin } = scene
    const { admin: other } = await scene.app.otherOrganization()
    const policy = textOf(await other.post('/policies', { name: 'Polite', rule: 'Be polite.' }))
    await other.post(`/policies/${policy}/cases`, { says: 'x', given: { text: 'rude' }, expect: 'match' })
    for (const each of [admin, other]) await each.post('/judges/file/calibrations', {})
    for (const each of [admin, other])
      await until(
        () => each.get('/judges/file'),
        ({ calibration }) => calibration !== null,
      )
    scene.skipDay()
    for (const each of [admin, other])
      await until(
        () => checksOf(each),
        (checks) => checks.length === 1,
      )
    const own = textOf(await scene.create())
    await admin.post(`/judges/${own}/activate`, { override: { reason: 'There are few labels' } })
    assert.equal((await admin.get('/judges/file'))['nightly_usd'], null)
    scene.skipDay()
    await until(
      () => checksOf(other),
      (checks) => checks.length === 2,
    )
    assert.equal((await checksOf(admin)).length, 1)
  })
})

describe('the alarms of a judge', () => {
  async function openAlarm() {
    const scene = await openScene({ labels: 4 })
    const { admin } = scene
    const judge = textOf(await scene.create())
    await scene.calibrate(judge)
    await admin.post(`/judges/${judge}/activate`, { override: { reason: 'There are few labels' } })
    scene.judge.answer(contradicting)
    scene.skipDay()
    await until(
      () => driftItems(admin),
      (items) => items.length === 1,
    )
    return { ...scene, own: judge }
  }
  const resolved = [{ alarm: 'kappa', version: 1, in_use: false }]

  it('end when it is retired, and it can be deleted', async () => {
    await using scene = await openAlarm()
    const { admin, own } = scene
    await admin.post(`/judges/${own}/retire`)
    assert.deepEqual(await driftItems(admin), [])
    assert.deepEqual(await eventsOf(admin, 'resolved'), resolved)
    assert.equal((await admin.send('DELETE', `/judges/${own}`)).status, 200)
    assert.deepEqual(await eventsOf(admin, 'resolved'), resolved)
  })

  it('end when another version takes over', async () => {
    await using scene = await openAlarm()
    const { admin, own } = scene
    const { revision } = await admin.get(`/judges/${own}`)
    await admin.send('PATCH', `/judges/${own}`, { body: { revision, timeout_ms: 900 } })
    await admin.post(`/judges/${own}/activate`, { override: { reason: 'It is needed at once' } })
    assert.deepEqual(await driftItems(admin), [])
    assert.deepEqual(await eventsOf(admin, 'resolved'), resolved)
  })

  it('of the configuration end when an organization activates its own judge', async () => {
    await using scene = await openScene({ labels: 4 })
    const { admin } = scene
    await scene.calibrate('file')
    scene.judge.answer(contradicting)
    scene.skipDay()
    await until(
      () => driftItems(admin),
      (items) => items.length === 1,
    )
    const own = textOf(await scene.create())
    await admin.post(`/judges/${own}/activate`, { override: { reason: 'It is needed at once' } })
    assert.deepEqual(await driftItems(admin), [])
    assert.deepEqual(await eventsOf(admin, 'resolved'), [{ alarm: 'kappa', version: 0, in_use: false }])
  })
})
