import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { createBodyMemoryBudget } from './body-memory-budget.ts'

const kilobyte = 1024

/** Opens requests with these headers, one after the other, into a room of so many kilobytes. */
function open(roomKilobytes: number) {
  const roomFor = createBodyMemoryBudget(roomKilobytes * kilobyte)
  return (headers: Record<string, string>) => {
    const request = Object.assign(new IncomingMessage(new Socket()), { headers })
    const response = new ServerResponse(request)
    return { take: roomFor(request, response), end: () => response.emit('close') }
  }
}

describe('the room for bodies', () => {
  it('does not count a body that says that it is small', () => {
    assert.equal(open(0)({ 'content-length': '1000' }).take, undefined)
    assert.equal(open(0)({}).take, undefined)
  })

  it('is full with what large bodies have sent, until one of them is answered', () => {
    const request = open(300)
    const large = { 'content-length': String(200 * kilobyte) }
    const [first, second] = [request(large), request(large)]
    assert.equal(first.take?.(200 * kilobyte, false), true)
    assert.equal(second.take?.(200 * kilobyte, false), false)
    second.end()
    first.end()
    assert.equal(request(large).take?.(200 * kilobyte, false), true)
  })

  it('is not left to strangers', () => {
    const request = open(1_000)
    const large = { 'content-length': String(200 * kilobyte) }
    assert.equal(request(large).take?.(200 * kilobyte, true), true)
    assert.equal(request(large).take?.(200 * kilobyte, true), false)
    assert.equal(request(large).take?.(200 * kilobyte, false), true)
  })

  it('has a place for what is small and does not say so', () => {
    const request = open(100)
    request({ 'content-length': String(200 * kilobyte) }).take?.(200 * kilobyte, false)
    const { take } = request({ 'transfer-encoding': 'chunked' })
    assert.equal(take?.(kilobyte, false), true)
    assert.equal(take?.(200 * kilobyte, false), false)
  })
})
