import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { restore } from './restore.ts'

type Content = Parameters<typeof restore>[0]

const content = (changed: Partial<Content>): Content => ({
  level: 'full',
  prompt: { text: '', evidence: [] },
  response: { text: '', evidence: [], withheld_from: null },
  messages: [{ role: 'user', text: 'Hello' }],
  parameters: { max_tokens: 5 },
  not_restored: [],
  ...changed,
})

describe('sending a request of the log again', () => {
  it('puts each message into its role, and the system text into its field', () => {
    const { texts, losses } = restore(
      content({
        messages: [
          { role: 'system', text: 'Be brief.' },
          { role: 'user', text: 'user: Hello' },
          { role: 'assistant', text: 'Yes?' },
        ],
      }),
    )
    assert.equal(texts.system, 'Be brief.')
    assert.deepEqual(texts.turns, [
      { role: 'user', text: 'user: Hello' },
      { role: 'assistant', text: 'Yes?' },
    ])
    assert.deepEqual(losses, [])
  })

  it('fills the fields of tools, limit and further parameters', () => {
    const tools = [{ name: 'find' }]
    const { texts, maxTokens } = restore(content({ parameters: { tools, max_output_tokens: 7, temperature: 0 } }))
    assert.deepEqual(JSON.parse(texts.tools), tools)
    assert.deepEqual(JSON.parse(texts.parameters), { temperature: 0 })
    assert.equal(maxTokens, 7)
  })

  it('says what the log does not have, and what the form cannot hold', () => {
    const { losses, texts } = restore(
      content({
        messages: [
          { role: 'user', text: 'Look' },
          { role: 'system', text: 'Be brief.' },
          { role: 'user', text: '' },
        ],
        parameters: {},
        not_restored: ['image'],
      }),
    )
    assert.deepEqual(losses, ['image', 'later_system', 'no_limit'])
    assert.deepEqual(texts.turns, [{ role: 'user', text: 'Look' }])
  })

  it('does not guess a limit if the parameters are not kept', () => {
    const { losses, maxTokens } = restore(content({ parameters: null, not_restored: ['parameters'] }))
    assert.deepEqual([losses, maxTokens], [['parameters'], undefined])
  })
})
