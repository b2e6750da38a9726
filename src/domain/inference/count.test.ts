import assert from 'node:assert/strict'
import { it } from 'node:test'
import { requestBy } from '../../../test/support/requests.ts'
import { estimateInputTokens } from './count.ts'

it('errs high in every script', () => {
  const saying = (text: string): number =>
    estimateInputTokens(requestBy('chat', { messages: [{ role: 'user', parts: [{ type: 'text', text }] }] }))
  const empty = saying('')
  assert.equal(saying('x'.repeat(350)) - empty, 100)
  assert.ok(saying('字'.repeat(350)) - empty >= 300)
})
