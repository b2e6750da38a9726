import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { InferenceEvent } from '../../../domain/inference/events.ts'
import type { CallerFormat } from '../../../domain/inference/formats.ts'
import { encodeChat } from '../../chat/encode.ts'
import { createChatWriter } from '../../chat/stream-writer.ts'
import { freeTextOf } from './free-text-tools.ts'
import { encodeResponses } from '../../responses/encode.ts'
import { createResponsesWriter } from '../../responses/stream-writer.ts'
import type { AnswerContext } from './stream-writer.ts'
import { noFieldRoles } from '../../../domain/inference/field-roles.ts'

const usage = {
  inputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 1,
  reasoningTokens: 0,
  source: 'reported',
} as const

/** A call of a free-text tool as upstreams send it: a function call with one string field. */
const events: readonly InferenceEvent[] = [
  { type: 'start', model: 'm' },
  { type: 'open', block: 0, part: { type: 'tool-call', id: 'call_1', name: 'apply_patch' } },
  { type: 'delta', block: 0, text: '{"input":"*** Begin' },
  { type: 'delta', block: 0, text: '\\n*** End"}' },
  { type: 'close', block: 0 },
  { type: 'end', stopReason: 'tool-call', usage },
]

function contextIn(dialect: CallerFormat): AnswerContext {
  const raw =
    dialect === 'chat' ? { type: 'custom', custom: { name: 'apply_patch' } } : { type: 'custom', name: 'apply_patch' }
  let count = 0
  return {
    id: 'answer_1',
    model: 'm',
    createdAtSeconds: 0,
    requestId: 'req_1',
    newId: (prefix) => `${prefix}_${(count += 1)}`,
    request: {
      model: 'm',
      stream: true,
      messages: [],
      stop: [],
      tools: [{ type: 'opaque', dialect, name: 'apply_patch', raw }],
      flaggedCategories: [],
      raw: { dialect, body: {}, headers: {}, roles: noFieldRoles },
    },
  }
}

describe('a call of a tool that takes free text', () => {
  const item = {
    id: 'ctc_1',
    type: 'custom_tool_call',
    status: 'completed',
    call_id: 'call_1',
    name: 'apply_patch',
    input: '*** Begin\n*** End',
  }

  it('is a custom_tool_call item in a response, streamed or not', () => {
    assert.deepEqual(encodeResponses(contextIn('responses'), { events })['output'], [item])
    const frames = createResponsesWriter(contextIn('responses')).write(events).split('\n\n').slice(0, -1)
    const streamed = frames.map((frame) => JSON.parse(frame.split('\ndata: ')[1] ?? ''))
    assert.deepEqual(
      streamed.slice(2).map(({ type }) => type),
      [
        'response.output_item.added',
        'response.custom_tool_call_input.done',
        'response.output_item.done',
        'response.completed',
      ],
    )
    assert.deepEqual(streamed[2].item, { ...item, status: 'in_progress', input: '' })
    assert.equal(streamed[3].input, '*** Begin\n*** End')
    assert.deepEqual(streamed[5].response.output, [item])
  })

  it('is a custom call in a completion, streamed or not', () => {
    const call = { id: 'call_1', type: 'custom', custom: { name: 'apply_patch', input: '*** Begin\n*** End' } }
    const { choices } = encodeChat(contextIn('chat'), { events }) as { choices: { message: { tool_calls: unknown } }[] }
    assert.deepEqual(choices[0]?.message.tool_calls, [call])
    const text = createChatWriter(contextIn('chat')).write(events)
    const calls = text
      .split('\n\n')
      .filter((frame) => frame.includes('tool_calls":['))
      .map((frame) => JSON.parse(frame.slice('data: '.length)).choices[0].delta.tool_calls)
    assert.deepEqual(calls, [[{ index: 0, ...call }]])
  })

  it('keeps the text of a call that is truncated or not JSON', () => {
    assert.equal(freeTextOf('{"input":"*** Beg'), '*** Beg')
    assert.equal(freeTextOf('*** Begin'), '*** Begin')
    assert.equal(freeTextOf(''), '')
  })
})
