import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createValidator } from '../validate.ts'
import { decodeResponses } from './decode.ts'
import { createCalleeOf } from './namespaces.ts'
import { ResponsesBody } from './schema.ts'

const validate = createValidator(ResponsesBody)
const decode = (body: object) => decodeResponses(validate({ model: 'm', input: 'Hi', ...body }))

const close = { type: 'function', name: 'close', strict: false, parameters: { type: 'object' } }
const patch = { type: 'custom', name: 'patch' }
const tools = [close, { type: 'namespace', name: 'agents', description: 'Helpers.', tools: [close, patch] }]

describe('tools in a namespace', () => {
  it('become plain tools with a qualified name', () => {
    assert.deepEqual(decode({ tools }).tools, [
      { ...close },
      { ...close, name: 'agents.close' },
      { type: 'opaque', dialect: 'responses', name: 'agents.patch', raw: patch },
    ])
  })

  it('are selected by namespace and name, or all at once by the namespace', () => {
    const named = { type: 'function', namespace: 'agents', name: 'close' }
    assert.deepEqual(decode({ tools, tool_choice: named }).toolChoice, { type: 'tool', name: 'agents.close' })
    const allow = (...allowed: object[]) =>
      decode({ tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: allowed } }).tools.map(
        ({ name }) => name,
      )
    assert.deepEqual(allow(named), ['agents.close'])
    assert.deepEqual(allow({ type: 'namespace', name: 'agents' }), ['agents.close', 'agents.patch'])
    assert.deepEqual(allow({ type: 'function', name: 'close' }), ['close'])
  })

  it('may be added during the conversation', () => {
    const later = { type: 'additional_tools', role: 'developer', tools }
    const request = decode({ input: [{ role: 'user', content: 'Hi' }, later] })
    assert.deepEqual(
      request.tools.map(({ name }) => name),
      ['close', 'agents.close', 'agents.patch'],
    )
    assert.deepEqual(createCalleeOf(request)('agents.close'), { namespace: 'agents', name: 'close' })
  })

  it('are listed once if they are declared twice', () => {
    const later = { type: 'additional_tools', role: 'developer', tools }
    const request = decode({ tools, input: [{ role: 'user', content: 'Hi' }, later, later] })
    assert.deepEqual(
      request.tools.map(({ name }) => name),
      ['close', 'agents.close', 'agents.patch'],
    )
  })

  it('have their qualified name in the history', () => {
    const call = { type: 'function_call', call_id: 'c', namespace: 'agents', name: 'close', arguments: '{}' }
    assert.deepEqual(decode({ tools, input: [call] }).messages[0]?.parts, [
      { type: 'tool-call', id: 'c', name: 'agents.close', input: '{}' },
    ])
  })

  it('are called by namespace and name, and other tools with a dot in their name are unchanged', () => {
    const calleeOf = createCalleeOf(decode({ tools: [...tools, { ...close, name: 'files.close' }] }))
    assert.deepEqual(calleeOf('agents.close'), { namespace: 'agents', name: 'close' })
    assert.deepEqual(calleeOf('close'), { name: 'close' })
    assert.deepEqual(calleeOf('files.close'), { name: 'files.close' })
  })
})
