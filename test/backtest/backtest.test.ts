import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../src/base/fault.ts'
import { notStarted } from '../../src/domain/evaluation/backtest/backtest.ts'
import type { PolicyContent } from '../../src/domain/policy/content.ts'
import { openBacktestScene } from '../support/backtest-scene.ts'
import { engines } from '../support/engines.ts'
import { rejectsWith } from '../support/rejects-with.ts'

const [sqlite] = engines
const blockedBy = (id: string) => ({
  verdict: { decision: 'refuse', isEnforced: true, policy: { id, version: 1 } } as const,
})

async function openScene(draft: Partial<PolicyContent> = {}) {
  assert.ok(sqlite)
  const database = await sqlite.open()
  const scene = await openBacktestScene(database, draft)
  return { ...scene, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() }
}

describe('a backtest', () => {
  it('reports changes of the draft by project and threshold, and the coverage', async () => {
    await using scene = await openScene({ matchThresholdBasisPoints: 6500 })
    await scene.addRequest('score 7000')
    await scene.addRequest('score 6000', { projectId: 'proj_2' })
    await scene.addRequest('score 9000', blockedBy('pol_1'))
    await scene.addRequest('score 100', blockedBy('pol_1'))
    await scene.addRequest('score 9000', blockedBy('default'))
    await scene.addRequest('score 9000', {
      verdict: { decision: 'refuse', isEnforced: false, policy: { id: 'pol_1' } },
    })
    await scene.addRequest('a riddle')
    await scene.addRequest('', { content: undefined })
    await scene.addRequest('', { content: { redacted: { prompt: 'score 8000 [EMAIL_1]', response: '' } } })
    const id = await scene.start({ thresholds: [5000] })
    await using work = scene.work('node')
    await work.run()
    const outcome = await scene.result(id)
    assert.deepEqual(
      [outcome.newly_blocked, outcome.newly_allowed, outcome.changed_reason, outcome.unchanged, outcome.not_evaluated],
      [3, 1, 1, 2, 1],
    )
    assert.deepEqual(outcome.coverage, { events: 9, sampled: 9, with_text: 8, redacted_only: 1, from_sample: 0 })
    assert.equal(outcome.projects['proj_2']?.unchanged, 1)
    assert.deepEqual(
      outcome.sweep.map((row) => [row.threshold_basis_points, row.blocked, row.newly_blocked]),
      [
        [5000, 6, 4],
        [6500, 5, 3],
      ],
    )
    assert.equal(outcome.examples.newly_blocked.length, 3)
    assert.doesNotMatch(JSON.stringify(outcome), /score \d/)
  })

  it('evaluates texts of its direction only, and only in its projects', async () => {
    await using scene = await openScene({ direction: 'response', scope: 'projects', projectIds: ['proj_1'] })
    const content = { full: { prompt: 'score 9000', response: 'score 9001' } }
    await scene.addRequest('', { content })
    await scene.addRequest('', { content, projectId: 'proj_2' })
    const id = await scene.start()
    await using work = scene.work('node')
    await work.run()
    assert.deepEqual(scene.replayed, ['score 9001'])
    const { newly_blocked: blocked, unchanged } = await scene.result(id)
    assert.deepEqual([blocked, unchanged], [1, 1])
  })

  it('replays the newest events up to the limit, and always samples the same ones', async () => {
    await using scene = await openScene()
    for (let at = 0; at < 130; at++) await scene.addRequest(`score ${at}`)
    await using work = scene.work('node')
    const limited = await scene.start({ limit: 60 })
    await work.run()
    assert.deepEqual(
      scene.replayed.splice(0),
      Array.from({ length: 60 }, (_, at) => `score ${129 - at}`),
    )
    assert.deepEqual([(await scene.find(limited))?.done, (await scene.find(limited))?.total], [60, 60])
    const sampled = [await scene.start({ samplePercent: 30 }), await scene.start({ samplePercent: 30 })]
    await work.run()
    const [first, second] = [await scene.result(sampled[0] ?? ''), await scene.result(sampled[1] ?? '')]
    assert.deepEqual(first, second)
    assert.ok(first.coverage.sampled > 15 && first.coverage.sampled < 70)
    assert.deepEqual(first.coverage.events, 130)
  })

  it('finds its events when it runs, because the transaction that creates it delays requests', async () => {
    await using scene = await openScene()
    for (let at = 0; at < 3; at++) await scene.addRequest(`score ${at}`)
    const id = await scene.start({ limit: 60 })
    assert.deepEqual([(await scene.find(id))?.cursor, (await scene.find(id))?.total], [notStarted, 60])
    await using work = scene.work('node')
    await work.run()
    assert.deepEqual([(await scene.find(id))?.done, (await scene.find(id))?.total], [3, 3])
  })

  it('ends with the second in which it is created, because the API names whole seconds', async () => {
    await using scene = await openScene()
    scene.clock.passMs(400)
    await scene.addRequest('score 9000')
    const { parameters } = (await scene.find(await scene.start())) ?? assert.fail()
    const { fromMs, toMs } = parameters
    assert.ok(toMs > scene.clock.nowMs())
    assert.deepEqual([toMs % 1000, fromMs % 1000], [0, 0])
  })

  it('fails and says what to do if its events cannot be read in time', async () => {
    await using scene = await openScene()
    const id = await scene.start()
    const timeout = new Fault('unavailable', 'report_timeout', 'The report takes too long.')
    await using work = scene.work('node', undefined, { span: () => Promise.reject(timeout) })
    await work.run()
    const failed = await scene.find(id)
    assert.equal(failed?.status, 'failed')
    assert.match(failed.error ?? '', /Choose a shorter period/)
    assert.deepEqual(work.errors, [])
  })

  it('resumes at the stored position after its node stopped in the middle, and counts nothing twice', async () => {
    await using scene = await openScene()
    for (let at = 0; at < 120; at++) await scene.addRequest(`score ${at * 80}`)
    const id = await scene.start()
    let seen = 0
    const stopped = Promise.withResolvers<void>()
    const first = scene.work('first', () => void (++seen === 70 && stopped.resolve(first[Symbol.asyncDispose]())))
    await first.run()
    await stopped.promise
    const between = await scene.find(id)
    assert.equal(between?.status, 'running')
    assert.deepEqual([between.done, between.total], [70, 120])
    await using second = scene.work('second')
    await second.run()
    assert.deepEqual(
      scene.replayed,
      Array.from({ length: 120 }, (_, at) => `score ${(119 - at) * 80}`),
    )
    const outcome = await scene.result(id)
    assert.equal(outcome.newly_blocked + outcome.unchanged, 120)
  })

  it('is left to the node that took it over after the lease expired', async () => {
    await using scene = await openScene()
    for (let at = 0; at < 10; at++) await scene.addRequest(`score ${at}`)
    const id = await scene.start()
    const other = scene.work('other')
    let isTaken = false
    await using slow = scene.work('slow', async () => {
      if (isTaken) return
      isTaken = true
      scene.clock.passMs(60_000)
      await other.run()
    })
    await slow.run()
    await other[Symbol.asyncDispose]()
    assert.equal((await scene.result(id)).coverage.events, 10)
    assert.deepEqual([...slow.errors, ...other.errors], [])
  })

  it('ends when it is cancelled, and counts nothing of what its node still replays', async () => {
    await using scene = await openScene()
    for (let at = 0; at < 120; at++) await scene.addRequest(`score ${at}`)
    const id = await scene.start()
    let seen = 0
    await using work = scene.work('node', async () => void (++seen === 70 && (await scene.cancel(id))))
    await work.run()
    const cancelled = await scene.find(id)
    assert.deepEqual([cancelled?.status, cancelled?.done, cancelled?.total], ['cancelled', 50, 120])
    assert.equal(seen, 100)
    assert.deepEqual((await scene.cancel(id)).record, undefined)
    assert.deepEqual(await scene.find(id), cancelled)
    assert.deepEqual(work.errors, [])
  })

  it('fails with an error if a rule cannot be evaluated', async () => {
    await using scene = await openScene()
    await scene.addRequest('broken')
    const id = await scene.start()
    await using work = scene.work('node')
    await work.run()
    const backtest = await scene.find(id)
    assert.deepEqual([backtest?.status, backtest?.done], ['failed', 0])
    assert.match(backtest?.error ?? '', /unexpected/)
    assert.equal(work.errors.length, 1)
  })

  it('completes at once if there are no events', async () => {
    await using scene = await openScene()
    const id = await scene.start()
    await using work = scene.work('node')
    await work.run()
    assert.equal((await scene.result(id)).coverage.events, 0)
    await assert.rejects(scene.start({ fromMs: 5, toMs: 5 }), rejectsWith('invalid_parameter'))
  })
})
