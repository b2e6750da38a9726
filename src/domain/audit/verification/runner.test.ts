import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { afterIo } from '../../../base/after-io.ts'
import { Fault } from '../../../base/fault.ts'
import { startOfChain } from '../chain/chain.ts'
import type { LogReport } from '../verify-log.ts'
import { createVerificationRunner, type VerificationRunnerParts } from './runner.ts'
import type { Verification } from './verification.ts'

const verification: Verification = {
  id: 'aver_1',
  organizationId: 'org_1',
  state: 'running',
  from: null,
  to: null,
  checked: 0,
  total: 10,
  cursor: null,
  result: null,
  createdAtMs: 0,
  updatedAtMs: 0,
}

const report: LogReport = {
  checked: 12,
  first: 1,
  end: startOfChain('org_1'),
  keySource: 'server_secret',
  checkpoints: 0,
  late: [],
  keyFindings: [],
}

/** A runner with one verification in its queue, whose work the test gives. */
function createScene(verify: VerificationRunnerParts['verify'], holdsLease = true) {
  const { clock, advance } = createHandClock()
  const waiting = [verification]
  const saved: Verification[] = []
  const released: string[] = []
  const errors: unknown[] = []
  const runner = createVerificationRunner({
    queue: {
      claim: async () => waiting.shift(),
      save: async (one) => holdsLease && saved.push(one) > 0,
      release: async (id) => void released.push(id),
    },
    verify,
    clock,
    onError: (error) => void errors.push(error),
  })
  return { runner, waiting, advance, saved, released, errors }
}

/** Works until its signal is aborted. */
const untilAborted: VerificationRunnerParts['verify'] = async (_, { signal }) => {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}

describe('the runner of verifications', () => {
  it('saves the result, and counts the events that were appended meanwhile', async () => {
    const { runner, saved, released } = createScene(async () => report)
    await runner.run()
    assert.deepEqual(
      saved.map(({ state, checked, total, result }) => [state, checked, total, result?.isWhole]),
      [['completed', 12, 12, true]],
    )
    assert.deepEqual(released, ['aver_1'])
  })

  it('saves the progress each second, with the event that the verification continues after', async () => {
    const cursorAt = (sequence: number) => ({ ...startOfChain('org_1'), sequence, first: 1, uncheckedTexts: 0 })
    const scene = createScene(async (_, { onProgress }) => {
      for (const last of [1, 4, 7]) {
        scene.advance(600)
        onProgress({ first: 1, last, cursor: cursorAt(last) })
      }
      return report
    })
    await scene.runner.run()
    assert.deepEqual(
      scene.saved.map(({ state, checked, cursor }) => [state, checked, cursor?.sequence]),
      [
        ['running', 4, 4],
        ['completed', 12, undefined],
      ],
    )
  })

  it('renews its lease while signatures are checked, which reports no progress', async () => {
    const scene = createScene(async (_, { onProgress }) => {
      onProgress({ first: 1, last: 4, cursor: undefined })
      for (let second = 0; second < 25; second++) {
        scene.advance(1_000)
        await afterIo()
      }
      return report
    })
    await scene.runner.run()
    assert.deepEqual(
      scene.saved.map(({ state, checked }) => [state, checked]),
      [
        ['running', 4],
        ['running', 4],
        ['completed', 12],
      ],
    )
  })

  it('continues where an interrupted verification was saved', async () => {
    const cursor = { ...startOfChain('org_1'), sequence: 3, first: 1, uncheckedTexts: 0 }
    const resumed: unknown[] = []
    const scene = createScene(async (_, { resumeAt }) => {
      resumed.push(resumeAt)
      return report
    })
    scene.waiting.push({ ...verification, cursor })
    await scene.runner.run()
    assert.deepEqual(resumed, [undefined, cursor])
  })

  it('gives a verification back when the process stops', async () => {
    const started = Promise.withResolvers<void>()
    const { runner, saved, released } = createScene((organizationId, options) => {
      started.resolve()
      return untilAborted(organizationId, options)
    })
    const run = runner.run()
    await started.promise
    await runner[Symbol.asyncDispose]()
    await run
    assert.deepEqual([saved, released], [[], ['aver_1']])
  })

  it('stops when another node has taken over', async () => {
    const scene = createScene((organizationId, options) => {
      scene.advance(1_000)
      options.onProgress({ first: 1, last: 1, cursor: undefined })
      return untilAborted(organizationId, options)
    }, false)
    await scene.runner.run()
    assert.deepEqual([scene.saved, scene.errors, scene.released], [[], [], ['aver_1']])
  })

  it('starts again later if the database cannot be reached, and fails after any other error', async () => {
    const outage = createScene(() => Promise.reject(new Fault('unavailable', 'unavailable', 'The database is down.')))
    await assert.rejects(outage.runner.run(), /database is down/)
    assert.deepEqual([outage.saved, outage.errors], [[], []])
    const broken = createScene(() => Promise.reject(new TypeError('broken')))
    await broken.runner.run()
    assert.deepEqual([broken.saved[0]?.state, broken.errors.length], ['failed', 1])
  })
})
