import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addEvent, emptyAnswer, problemIn, wholeAnswer, type Answer } from './answer.ts'
import { dialects, type Dialect } from './search.ts'

const streamed = (dialect: Dialect, ...events: readonly unknown[]): Answer =>
  events.reduce<Answer>((answer, event) => addEvent(answer, dialect, event), emptyAnswer)

/** One answer with reasoning, text and the call of a tool: its events, and the same in one piece. */
const answers: Readonly<Record<Dialect, { events: readonly unknown[]; whole: unknown; stopReason: string }>> = {
  messages: {
    events: [
      { type: 'message_start', message: { role: 'assistant' } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'x' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hel' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'lo' } },
      { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', name: 'find', input: {} } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"a"' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: ':1}' } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ],
    whole: {
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 'x' },
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', name: 'find', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
    },
    stopReason: 'tool_use',
  },
  responses: {
    events: [
      { type: 'response.created', response: { status: 'in_progress', error: null } },
      { type: 'response.output_item.added', item: { type: 'reasoning' } },
      { type: 'response.reasoning_summary_text.delta', delta: 'Hm' },
      { type: 'response.output_text.delta', delta: 'Hel' },
      { type: 'response.output_text.delta', delta: 'lo' },
      { type: 'response.output_item.added', item: { type: 'function_call', name: 'find', arguments: '' } },
      { type: 'response.function_call_arguments.delta', delta: '{"a":1}' },
      { type: 'response.completed', response: { status: 'completed', error: null } },
    ],
    whole: {
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
        { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] },
        { type: 'function_call', name: 'find', arguments: '{"a":1}' },
      ],
      status: 'completed',
      error: null,
    },
    stopReason: 'completed',
  },
  chat: {
    events: [
      { choices: [{ delta: { role: 'assistant', content: '', reasoning_content: 'Hm' } }] },
      { choices: [{ delta: { content: 'Hello' } }] },
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { name: 'find', arguments: '' } }] } }] },
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] } }] },
      { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
      { choices: [], usage: { total_tokens: 5 } },
    ],
    whole: {
      choices: [
        {
          message: {
            content: 'Hello',
            reasoning_content: 'Hm',
            tool_calls: [{ function: { name: 'find', arguments: '{"a":1}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
    },
    stopReason: 'tool_calls',
  },
}

for (const dialect of dialects)
  describe(`an answer of the dialect ${dialect}`, () => {
    const { events, whole, stopReason } = answers[dialect]
    const expected: Answer = {
      parts: [
        { kind: 'thinking', text: 'Hm' },
        { kind: 'text', text: 'Hello' },
        { kind: 'tool', name: 'find', text: '{"a":1}' },
      ],
      stopReason,
    }
    it('is put together from its events', () => assert.deepEqual(streamed(dialect, ...events), expected))
    it('is the same in one piece', () => assert.deepEqual(wholeAnswer(dialect, whole), expected))
    it('keeps what arrived before an error', () => {
      const broken = streamed(dialect, ...events.slice(0, -2), { error: { code: 'upstream_error', message: 'Gone.' } })
      assert.deepEqual(broken.problem, { code: 'upstream_error', message: 'Gone.' })
      assert.equal(broken.parts[1]?.text, 'Hello')
    })
    it('may hold anything', () => {
      for (const strange of [null, 'text', 7, [], { content: 5, choices: [null], output: [{ content: [1] }] }]) {
        assert.equal(streamed(dialect, strange).problem, undefined)
        assert.equal(wholeAnswer(dialect, strange).problem, undefined)
      }
    })
  })

describe('the end of an answer', () => {
  it('has the reason why a response is incomplete', () => {
    const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, error: null }
    assert.equal(wholeAnswer('responses', incomplete).stopReason, 'max_output_tokens')
  })
  it('has the error of a response that failed', () => {
    const failed = { status: 'failed', error: { code: 'server_error', message: 'Broken.' } }
    assert.deepEqual(streamed('responses', { type: 'response.failed', response: failed }).problem, {
      code: 'server_error',
      message: 'Broken.',
    })
  })
  it('shows a refusal as text', () => {
    assert.deepEqual(wholeAnswer('chat', { choices: [{ message: { content: null, refusal: 'No.' } }] }).parts, [
      { kind: 'text', text: 'No.' },
    ])
    const item = { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }
    assert.deepEqual(wholeAnswer('responses', { output: [item] }).parts, [{ kind: 'text', text: 'No.' }])
  })
})

describe('an error', () => {
  it('is read in the format of each dialect and of administration', () => {
    assert.deepEqual(problemIn({ type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } }), {
      code: 'overloaded_error',
      message: 'Busy.',
    })
    assert.deepEqual(
      problemIn({
        error: { type: 'invalid_request_error', message: 'No.', details: { error_code: 'policy_blocked' } },
      }),
      { code: 'policy_blocked', message: 'No.' },
    )
    assert.deepEqual(problemIn({ type: 'error', code: 'rate_limit', message: 'Wait.' }), {
      code: 'rate_limit',
      message: 'Wait.',
    })
    assert.deepEqual(problemIn({ error: 'Not found', code: 'not_found' }), { code: 'not_found', message: 'Not found' })
  })
  it('is not in an answer without one', () => {
    assert.equal(problemIn({ error: null }), undefined)
    assert.equal(problemIn({ message: 'hello' }), undefined)
  })
})
