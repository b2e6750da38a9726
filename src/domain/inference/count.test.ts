import assert from 'node:assert/strict'
import { it } from 'node:test'
import { requestBy } from '../../../test/support/requests.ts'
import { estimateInputTokens } from './count.ts'

it('overestimates in every script', () => {
  const estimate = (text: string): number =>
    estimateInputTokens(requestBy('chat', { messages: [{ role: 'user', parts: [{ type: 'text', text }] }] }))
  const empty = estimate('')
  assert.equal(estimate('x'.repeat(350)) - empty, 100)
  assert.ok(estimate('字'.repeat(350)) - empty >= 300)
})
