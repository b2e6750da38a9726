import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { requestBy } from '../../../../test/support/requests.ts'
import type { Tool } from '../../../domain/inference/request.ts'
import { portableTools } from './tools.ts'

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
