import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createResponsesCheck } from './conformance.ts'

const item = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}', status: 'completed' }
const [created, added, done] = [
  { type: 'response.created', response: { output: [] } },
  { type: 'response.output_item.added', output_index: 0, item },
  { type: 'response.output_item.done', output_index: 0, item },
]
const completed = { type: 'response.completed', response: { output: [item] } }

it('rejects an item that never ends, because some clients would lose the call', () => {
  const lastOf = (...events: readonly object[]): boolean | undefined => {
    const form = createResponsesCheck()
    return events.map((event) => form.event({ ...event })).at(-1)
  }
  assert.equal(lastOf(created, added, done, completed), true)
  assert.equal(lastOf(created, added, completed), false)
})
