import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { createAdministrationLimits } from '../../domain/identity/administration-limits.ts'
import { admitRequest, admitUntilClose } from './limit.ts'

const actor = { kind: 'admin_key', id: 'adk_1', organization: { id: 'org_1' } }

function createScene() {
  const { clock } = createHandClock()
  const limit = { requestsPerMinute: 100, concurrentRequests: 1 }
  const parts = { clock, limits: createAdministrationLimits(clock, { credential: limit, organization: limit }) }
  return { parts, raw: new ServerResponse(new IncomingMessage(new Socket())) }
}

describe('a request that is admitted until its response is closed', () => {
  it('counts as running until then', () => {
    const { parts, raw } = createScene()
    admitUntilClose(parts, actor, { raw })
    assert.throws(() => admitRequest(parts, actor), /concurrent requests/)
    raw.emit('close')
    assert.doesNotThrow(() => admitRequest(parts, actor))
  })

  it('does not count as running if the caller has left before', () => {
    const { parts, raw } = createScene()
    raw.destroy()
    admitUntilClose(parts, actor, { raw })
    assert.doesNotThrow(() => admitRequest(parts, actor))
  })
})
