import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import type { Renewal } from './admission.ts'
import { createHeartbeat } from './heartbeat.ts'

const request = (requestId: string): Renewal => ({ organization: 'org', project: 'project', key: 'key', requestId })

function createScene() {
  const { clock, pass, waiting } = createHandClock()
  const beats: string[][] = []
  const renew = (renewals: readonly Renewal[]): void => {
    beats.push(renewals.map(({ requestId }) => requestId))
    if (beats.length === 1) throw new Error('one that is lost')
  }
  return { heartbeat: createHeartbeat({ store: { renew }, clock }), beats, pass, waiting }
}

describe('the heartbeat', () => {
  it('renews what is running, beat by beat, whether or not the last one arrived', async () => {
    const { heartbeat, beats, pass } = createScene()
    const short = heartbeat.keep(request('short'))
    heartbeat.keep(request('long'))
    await pass(10_000)
    short[Symbol.dispose]()
    await pass(10_000)
    assert.deepEqual(beats, [['short', 'long'], ['long']])
  })

  it('rests while nothing runs, and wakes with the next request', async () => {
    const { heartbeat, beats, pass, waiting } = createScene()
    heartbeat.keep(request('one'))[Symbol.dispose]()
    await pass(10_000)
    assert.equal(waiting(), 0)
    assert.deepEqual(beats, [])
    heartbeat.keep(request('two'))
    await pass(10_000)
    assert.deepEqual(beats, [['two']])
  })

  it('ends when it is disposed of', async () => {
    const { heartbeat, beats, pass, waiting } = createScene()
    heartbeat.keep(request('one'))
    heartbeat[Symbol.dispose]()
    assert.equal(waiting(), 0)
    await pass(10_000)
    assert.deepEqual(beats, [])
  })
})
