import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { calls, result, say, sentTo } from '../../../../test/support/provider-kit.ts'
import { requestBy } from '../../../../test/support/requests.ts'
import type { Message } from '../../../domain/inference/request.ts'
import type { Turn } from './history.ts'
import { turnsOf } from './history.ts'

const part = fc.oneof(
  fc.constant('words'),
  fc.constantFrom('a', 'b', 'c').map((id) => calls(id, 'f')),
  fc.constantFrom('a', 'b', 'c').map((id) => result(id, 'r')),
)

/** Calls are in assistant messages and results in user messages. Other parts may be in any message. */
const message: fc.Arbitrary<Message> = fc
  .tuple(fc.constantFrom('user', 'assistant', 'system'), fc.array(part, { minLength: 1, maxLength: 4 }))
  .map(([role, parts]) =>
    say(
      role,
      ...parts.filter(
        (each) =>
          typeof each === 'string' ||
          each.type === (role === 'user' ? 'tool-result' : role === 'assistant' ? 'tool-call' : 'text'),
      ),
    ),
  )

describe('any conversation', () => {
  it('becomes one in which the next turn has the result of each call, and no other results', () => {
    const property = fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
      const turns = turnsOf(messages, () => {})
      for (const [at, turn] of turns.entries()) {
        const called = new Set(turn.parts.flatMap((each) => (each.type === 'tool-call' ? [each.id] : [])))
        if (called.size > 0) assert.deepEqual(answered(turns[at + 1]), [...called].toSorted())
        if (answered(turn).length > 0) assert.equal(turns[at - 1]?.role, 'assistant')
      }
    })
    fc.assert(property, { numRuns: 500 })
  })

  it('keeps all text', () => {
    const property = fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
      const words = (list: readonly { readonly parts: Message['parts'] }[]): number =>
        list.flatMap(({ parts }) => parts).filter((each) => each.type === 'text').length
      assert.equal(words(turnsOf(messages, () => {})), words(messages))
    })
    fc.assert(property, { numRuns: 200 })
  })
})

it('an empty message does not separate two calls of one turn', () => {
  const talk = [say('assistant', calls('a', 'f')), say('system'), say('assistant', calls('b', 'f'))]
  const answers = say('user', result('a', 'r'), result('b', 'r'))
  assert.deepEqual(turnsOf([...talk, answers], assert.fail), [
    say('assistant', calls('a', 'f'), calls('b', 'f')),
    answers,
  ])
})

const answered = (turn: Turn | undefined): string[] =>
  (turn?.parts ?? []).flatMap((each) => (each.type === 'tool-result' ? [each.id] : [])).toSorted()

describe('a conversation with only system text', () => {
  const request = requestBy('chat', { messages: [say('system', 'Tell a joke.')] })

  it('is sent as a user message if the vendor requires one', async () => {
    const { body } = await sentTo('anthropic', request)
    assert.deepEqual(body['messages'], [{ role: 'user', content: [{ type: 'text', text: 'Tell a joke.' }] }])
    assert.equal(body['system'], undefined)
    const { body: response } = await sentTo('openai-responses', request)
    assert.deepEqual(response['input'], [{ role: 'user', content: [{ type: 'input_text', text: 'Tell a joke.' }] }])
    assert.equal(response['instructions'], undefined)
  })
})
