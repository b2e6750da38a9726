import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noFieldRoles } from '../../inference/field-roles.ts'
import { collectTexts } from './request-texts.ts'
import { messagesIn } from './request-outline.ts'
import type { Message } from '../../inference/request.ts'

const textMessage = (role: Message['role'], text: string): Message => ({ role, parts: [{ type: 'text', text }] })

type Options = { readonly body?: Record<string, unknown>; readonly redact?: (text: string) => string }

function stored(messages: readonly Message[], { body = {}, redact = (text) => text }: Options = {}) {
  const roles = { ...noFieldRoles, recorded: new Set(['words']), identifying: new Set(['person']) }
  const raw = { dialect: 'chat' as const, body, headers: {}, roles }
  const { full, redacted } = collectTexts({ messagesOf: () => messages, raw }, { level: 'full', redact }).content()
  assert.ok(full?.prompt !== undefined && redacted?.prompt !== undefined)
  const split = ({ prompt = '', outline }: NonNullable<typeof full>) =>
    outline?.messages && messagesIn(prompt, outline.messages)
  return { full, redacted, messages: split(full), redactedMessages: split(redacted) }
}

describe('the outline of a stored request', () => {
  it('gives the messages back with their roles', () => {
    const { messages, full } = stored([textMessage('system', 'Be brief.'), textMessage('user', 'Hi\nthere')])
    assert.deepEqual(messages, [
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'Hi\nthere' },
    ])
    assert.equal(full.prompt, 'system: Be brief.\nuser: Hi\nthere')
  })

  it('does not take a line of a message for another message', () => {
    const given = [textMessage('user', 'A chat:\nuser: hi\nassistant: hello'), textMessage('assistant', 'system: no')]
    const { messages, redactedMessages } = stored(given, { redact: (text) => text.replaceAll('hello', '[NAME_1]') })
    assert.deepEqual(messages, [
      { role: 'user', text: 'A chat:\nuser: hi\nassistant: hello' },
      { role: 'assistant', text: 'system: no' },
    ])
    assert.deepEqual(redactedMessages, [
      { role: 'user', text: 'A chat:\nuser: hi\nassistant: [NAME_1]' },
      { role: 'assistant', text: 'system: no' },
    ])
  })

  it('has no messages if redaction replaced the border between two', () => {
    const given = [textMessage('user', '12'), textMessage('user', '34')]
    const { messages, redactedMessages } = stored(given, {
      redact: (text) => text.replace('12\nuser: 34', '[PHONE_1]'),
    })
    assert.equal(messages?.length, 2)
    assert.equal(redactedMessages, undefined)
  })

  it('keeps the messages of a truncated prompt that are left', () => {
    const given = [
      textMessage('user', 'First'),
      textMessage('assistant', 'x'.repeat(300_000)),
      textMessage('user', 'Y'),
    ]
    const { messages } = stored(given)
    assert.deepEqual(
      messages?.map(({ role }) => role),
      ['user', 'assistant'],
    )
    assert.ok(messages.at(-1)?.text.endsWith('…'))
  })

  it('holds the parameters without messages and without the user', () => {
    const { full } = stored([textMessage('user', 'Hi')], { body: { words: ['Hi'], person: 'ann', heat: 0.5 } })
    assert.equal(full.outline?.parameters, '{"heat":0.5}')
  })

  it('redacts parameters, and leaves them out if no JSON is left', () => {
    const messages = [textMessage('user', 'Hi')]
    const redact = (text: string) => text.replaceAll('4111', '[CARD_1]')
    const inText = stored(messages, { body: { note: '4111' }, redact })
    assert.equal(inText.redacted.outline?.parameters, '{"note":"[CARD_1]"}')
    assert.equal(inText.full.outline?.parameters, '{"note":"4111"}')
    const asNumber = stored(messages, { body: { note: 4111 }, redact })
    assert.equal(asNumber.redacted.outline?.parameters, undefined)
  })

  it('leaves out parameters that are too large', () => {
    const { full } = stored([textMessage('user', 'Hi')], { body: { tools: 'x'.repeat(70_000) } })
    assert.equal(full.outline?.parameters, undefined)
  })

  it('names the parts that are not kept as they were', () => {
    const image = { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } } as const
    const call = { type: 'tool-call', id: '1', name: 'find', input: '{}' } as const
    const { full } = stored([{ role: 'user', parts: [image, { type: 'text', text: 'Look' }, image, call] }])
    assert.deepEqual(full.outline?.lossy, ['image', 'tool-call'])
  })
})
