import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { createBodyMemoryBudget } from './body-memory-budget.ts'

const kilobyte = 1024
const authenticated = true
const unauthenticated = false

/** Opens requests with these headers, one after the other, with a budget of this many kilobytes. */
function open(budgetKilobytes: number) {
  const budget = createBodyMemoryBudget(budgetKilobytes * kilobyte)
  return (headers: Record<string, string>) => {
    const request = Object.assign(new IncomingMessage(new Socket()), { headers })
    const response = new ServerResponse(request)
    return { reserve: budget(request, response), end: () => response.emit('close') }
  }
}

describe('the memory budget for bodies', () => {
  it('does not count a body whose announced length is small', () => {
    assert.equal(open(0)({ 'content-length': '1000' }).reserve, undefined)
    assert.equal(open(0)({}).reserve, undefined)
  })

  it('counts the received bytes of large bodies until one of them is answered', () => {
    const request = open(300)
    const large = { 'content-length': String(200 * kilobyte) }
    const [first, second] = [request(large), request(large)]
    assert.equal(first.reserve?.(200 * kilobyte, authenticated), true)
    assert.equal(second.reserve?.(200 * kilobyte, authenticated), false)
    second.end()
    first.end()
    assert.equal(request(large).reserve?.(200 * kilobyte, authenticated), true)
  })

  it('reserves a share for authenticated callers', () => {
    const request = open(1_000)
    const large = { 'content-length': String(200 * kilobyte) }
    assert.equal(request(large).reserve?.(200 * kilobyte, unauthenticated), true)
    assert.equal(request(large).reserve?.(200 * kilobyte, unauthenticated), false)
    assert.equal(request(large).reserve?.(200 * kilobyte, authenticated), true)
  })

  it('accepts a small body without an announced length', () => {
    const request = open(100)
    request({ 'content-length': String(200 * kilobyte) }).reserve?.(200 * kilobyte, authenticated)
    const { reserve } = request({ 'transfer-encoding': 'chunked' })
    assert.equal(reserve?.(kilobyte, authenticated), true)
    assert.equal(reserve?.(200 * kilobyte, authenticated), false)
  })
})
