import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createValidator } from '../validate.ts'
import { decodeMessages } from './decode.ts'
import { MessagesBody } from './schema.ts'

const validate = createValidator(MessagesBody)
const tool = (name: string) => ({ name, input_schema: { type: 'object' } })
const reference = (type: string, name: string) => ({ type, tool: { type: 'tool_reference', name } })
const addition = (name: string) => ({
  type: 'tool_addition',
  tool: { type: 'tool_definition', definition: tool(name) },
})

/** A conversation with these system messages, one after the other. */
const decode = (...system: readonly object[]) =>
  decodeMessages(
    validate({
      model: 'm',
      tools: [tool('read'), tool('write')],
      messages: [{ role: 'user', content: 'Hi' }, ...system.map((message) => ({ role: 'system', ...message }))],
    }),
    {},
  )
const toolsOf = (...content: readonly object[]) => decode({ content }).tools.map(({ name }) => name)

describe('tools that are added and removed during the conversation', () => {
  it('are in the list from their addition to their removal', () => {
    assert.deepEqual(toolsOf(addition('fetch')), ['read', 'write', 'fetch'])
    assert.deepEqual(toolsOf(reference('tool_removal', 'read')), ['write'])
    const back = [reference('tool_removal', 'read'), reference('tool_addition', 'read')]
    assert.deepEqual(toolsOf(...back), ['write', 'read'])
    assert.deepEqual(toolsOf(addition('fetch'), reference('tool_removal', 'fetch')), ['read', 'write'])
    assert.deepEqual(toolsOf({ ...addition('read'), type: 'tool_removal' }), ['write'])
  })

  it('are also described as text, for a model that only sees the list', () => {
    const { messages } = decode({ content: [addition('fetch'), reference('tool_removal', 'read')] })
    assert.deepEqual(messages.at(-1)?.parts, [
      { type: 'text', text: 'The tool fetch can be called now.' },
      { type: 'text', text: 'The tool read can no longer be called.' },
    ])
  })
})

describe('a system message in the middle of a conversation', () => {
  it('applies to one turn if it has clear_at', () => {
    const reminder = { content: 'Only now.', clear_at: 'next_user_message' }
    assert.equal(decode(reminder).messages.length, 2)
    const [earlier, answer, later] = [{ role: 'system', ...reminder }, 'a', 'b']
    const { messages } = decodeMessages(
      validate({
        model: 'm',
        messages: [
          { role: 'user', content: 'Hi' },
          earlier,
          { role: 'assistant', content: answer },
          { role: 'user', content: later },
        ],
      }),
      {},
    )
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    )
  })

  it('is the only message that expires: user messages stay', () => {
    const reminder = { role: 'user', content: 'Only now.', clear_at: 'next_user_message' }
    assert.equal(decodeMessages(validate({ model: 'm', messages: [reminder, reminder] }), {}).messages.length, 2)
  })

  it('may change the reasoning effort', () => {
    const { reasoning } = decode({ content: [], output_config: { effort: 'low' } }, { content: 'x', output_config: {} })
    assert.equal(reasoning?.effort, 'low')
  })
})
