import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
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
  const { clock, pass, advance } = createHandClock()
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
  return { runner, pass, advance, saved, released, errors }
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

  it('rests after each step for as long as the step took, and saves the progress each second', async () => {
    let steps = 0
    const scene = createScene(async (_, { onChecked }) => {
      for (const sequence of [1, 4]) {
        scene.advance(600)
        await onChecked(sequence)
        steps += 1
      }
      return report
    })
    const run = scene.runner.run()
    await scene.pass(0)
    await scene.pass(599)
    assert.equal(steps, 0)
    await scene.pass(1)
    assert.equal(steps, 1)
    await scene.pass(600)
    await run
    assert.deepEqual(
      scene.saved.map(({ state, checked }) => [state, checked]),
      [
        ['running', 4],
        ['completed', 12],
      ],
    )
  })

  it('gives a verification back when the process stops', async () => {
    const { runner, pass, saved, released } = createScene(async (_, { onChecked }) => {
      for (;;) await onChecked(1)
    })
    const run = runner.run()
    await pass(0)
    await runner[Symbol.asyncDispose]()
    await run
    assert.deepEqual([saved, released], [[], ['aver_1']])
  })

  it('stops when another node has taken over', async () => {
    const { runner, pass, released } = createScene(async (_, { onChecked }) => {
      for (;;) await onChecked(1)
    }, false)
    const run = runner.run()
    await pass(0)
    await pass(1_000)
    await pass(1_000)
    await run
    assert.deepEqual(released, ['aver_1'])
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
