import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LimitStoreError, type SharedLimitStore } from './store.ts'
import { withCallTimes } from './timed-store.ts'

const renewal = { organization: 'org_1', project: 'proj_1', key: 'key_1', requestId: 'req_1' }

/** A store of which a call ends when the test decides. */
function startScene() {
  let nowMs = 0
  const reply = Promise.withResolvers<void>()
  const ended: [string, number][] = []
  const store = { leave: () => reply.promise } as unknown as SharedLimitStore
  const timed = withCallTimes(store, {
    clock: { monotonicMs: () => nowMs },
    onEnded: (...call) => ended.push(call),
  })
  return { timed, reply, ended, passMs: (ms: number) => void (nowMs += ms) }
}

describe('a shared store with measured calls', () => {
  it('reports the operation and its seconds when the call ends', async () => {
    const { timed, reply, ended, passMs } = startScene()
    const left = timed.leave(renewal)
    passMs(250)
    assert.deepEqual(ended, [])
    reply.resolve()
    await left
    assert.deepEqual(ended, [['leave', 0.25]])
  })

  it('reports a failed call too, because one that timed out is the slowest, and rejects with its error', async () => {
    const { timed, reply, ended, passMs } = startScene()
    const left = timed.leave(renewal)
    passMs(50)
    reply.reject(new LimitStoreError('unreachable', 'no answer in time'))
    await assert.rejects(left, /no answer in time/)
    assert.deepEqual(ended, [['leave', 0.05]])
  })
})
