import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Renewal } from './admission.ts'
import { createHeartbeat } from './heartbeat.ts'

const request = (requestId: string): Renewal => ({ organization: 'org', project: 'project', key: 'key', requestId })

function createScene() {
  const renewed: string[][] = []
  const renew = (renewals: readonly Renewal[]): void => {
    renewed.push(renewals.map(({ requestId }) => requestId))
    if (renewed.length === 1) throw new Error('the store is unreachable')
  }
  return { heartbeat: createHeartbeat({ store: { renew } }), renewed }
}

describe('the heartbeat', () => {
  it('renews the requests that are still running, whether or not the last renewal failed', async () => {
    const { heartbeat, renewed } = createScene()
    const short = heartbeat.keep(request('short'))
    heartbeat.keep(request('long'))
    await assert.rejects(heartbeat.renew(), /the store is unreachable/)
    short[Symbol.dispose]()
    await heartbeat.renew()
    assert.deepEqual(renewed, [['short', 'long'], ['long']])
  })

  it('does not call the store while no request runs', async () => {
    const { heartbeat, renewed } = createScene()
    heartbeat.keep(request('one'))[Symbol.dispose]()
    await heartbeat.renew()
    assert.deepEqual(renewed, [])
  })
})
