import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { requestBy } from '../../../../test/support/requests.ts'
import type { Tool } from '../../../domain/inference/request.ts'
import { portableChoice, portableTools } from './tools.ts'

const read: Tool = { type: 'function', name: 'read', parameters: { type: 'object' } }
const hosted = (name: string): Tool => ({ type: 'opaque', dialect: 'responses', name, raw: { type: name } })

describe('vendor-run tools', () => {
  it('are dropped and reported if agents send them with every request', () => {
    const dropped: string[] = []
    const request = requestBy('responses', { tools: [read, hosted('web_search')] })
    const names = portableTools(request, (what) => dropped.push(what)).map(({ name }) => name)
    assert.deepEqual([names, dropped], [['read'], ['tools.web_search']])
  })

  it('are rejected if the response would be wrong without them', () => {
    const request = requestBy('responses', { tools: [read, hosted('file_search')] })
    assert.throws(() => portableTools(request, () => {}), { code: 'unsupported_parameter' })
  })
})

describe('a request whose tools are all dropped', () => {
  it('is rejected, because the model could not do its task', () => {
    const request = requestBy('responses', { tools: [hosted('web_search')] })
    const rejected = { code: 'unsupported_parameter', details: { param: 'tools' } }
    assert.throws(
      () =>
        portableChoice(
          request,
          portableTools(request, () => {}),
          () => {},
        ),
      rejected,
    )
  })

  it('is sent if the model may use none of them anyway', () => {
    const request = requestBy('responses', { tools: [hosted('web_search')], toolChoice: { type: 'none' } })
    assert.equal(
      portableChoice(request, [], () => {}),
      undefined,
    )
  })
})

describe('tools of Anthropic that the caller runs', () => {
  const clientTool = (type: string, name: string): Tool => ({
    type: 'opaque',
    dialect: 'messages',
    name,
    raw: { type, name },
  })
  const converted = (type: string, name: string) => {
    const request = requestBy('messages', { tools: [clientTool(type, name)] })
    return portableTools(request, () => assert.fail('dropped'))
  }
  const propertiesOf = (found: { readonly parameters: object } | undefined) =>
    (found?.parameters as Schema | undefined)?.properties ?? {}
  type Schema = {
    readonly properties: Record<string, { readonly enum?: readonly string[] }>
    readonly required?: unknown
  }

  it('become functions with their names and published arguments', () => {
    const [bash] = converted('bash_20250124', 'bash')
    assert.deepEqual([bash?.name, Object.keys(propertiesOf(bash))], ['bash', ['command', 'restart']])
    const [memory] = converted('memory_20250818', 'memory')
    const commands = propertiesOf(memory)['command']?.enum
    assert.deepEqual(commands, ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'])
  })

  it('have the arguments of their version', () => {
    const editor = (version: string) => converted(`text_editor_${version}`, 'edit')[0]?.parameters as Schema
    assert.equal(editor('20250124').properties['command']?.enum?.includes('undo_edit'), true)
    assert.equal(editor('20250728').properties['command']?.enum?.includes('undo_edit'), false)
    assert.deepEqual(editor('20250728').required, ['command', 'path'])
    assert.equal('insert_text' in editor('20250728').properties, true)
    assert.equal('insert_text' in editor('20250429').properties, false)
  })

  it('are not those that the vendor runs', () => {
    const dropped: string[] = []
    const request = requestBy('messages', { tools: [read, clientTool('computer_20250124', 'computer')] })
    assert.deepEqual(
      portableTools(request, (field) => dropped.push(field)).map(({ name }) => name),
      ['read'],
    )
    assert.deepEqual(dropped, ['tools.computer'])
  })
})
