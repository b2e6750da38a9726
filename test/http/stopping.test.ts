import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { createFastClock } from '../support/fast-clock.ts'
import { startHouse } from '../support/house.ts'

describe('a house that stops', () => {
  it('does not wait longer for whoever never finishes asking than for answers', { timeout: 10_000 }, async () => {
    await using scene = await startHouse({
      clock: createFastClock(50),
      config: { server: { request_timeout_ms: 3_600_000 } },
    })
    const { hostname, port } = new URL(scene.url)
    const slow = connect(Number(port), hostname).on('error', () => {})
    const head = ['host: x', `authorization: Bearer ${scene.apiKey}`, 'content-type: application/json']
    slow.write(
      ['POST /v1/messages HTTP/1.1', ...head, 'content-length: 9', 'expect: 100-continue', '', ''].join('\r\n'),
    )
    const [said] = (await once(slow, 'data')) as [Buffer] // its head was read
    assert.match(said.toString(), /100 Continue/)
    const cut = once(slow, 'close')
    await scene.house.drain()
    await cut
  })
})
