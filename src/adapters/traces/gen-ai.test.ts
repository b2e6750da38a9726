import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noFieldRoles } from '../../domain/inference/field-roles.ts'
import type { InferenceRequest, Message } from '../../domain/inference/request.ts'
import { redactIrreversibly } from '../../domain/scan/detect/personal-data/redact.ts'
import { contentAttributes, modelCallAttributes } from './gen-ai.ts'

const requestOf = (...messages: Message[]): InferenceRequest => ({
  model: 'm',
  stream: false,
  messages,
  stop: [],
  tools: [],
  flaggedCategories: [],
  raw: { dialect: 'chat', body: {}, headers: {}, roles: noFieldRoles },
})

const messagesOf = (request: InferenceRequest): unknown =>
  JSON.parse(
    String(
      contentAttributes(request.messages, { text: '', stopReason: 'end' }, redactIrreversibly)[
        'gen_ai.input.messages'
      ] ?? '',
    ),
  )

const userText = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })

describe('the span of a model call', () => {
  it('has no more than 256 characters of the model that the upstream names', () => {
    const facts = {
      operation: 'chat' as const,
      model: 'm',
      upstream: undefined,
      isStream: false,
      answeredModel: 'x'.repeat(1_000),
    }
    assert.equal(modelCallAttributes(facts)['gen_ai.response.model'], 'x'.repeat(256))
  })
})

describe('the messages in a span', () => {
  it('have their texts, tool calls and results, and neither images nor personal data', () => {
    const request = requestOf(
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'Write to ada@example.com' },
          { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
        ],
      },
      { role: 'assistant', parts: [{ type: 'tool-call', id: 't1', name: 'mail', input: '{"to":"ada@example.com"}' }] },
      {
        role: 'user',
        parts: [{ type: 'tool-result', id: 't1', parts: [{ type: 'text', text: 'sent' }], isError: false }],
      },
    )
    assert.deepEqual(messagesOf(request), [
      { role: 'user', parts: [{ type: 'text', content: 'Write to [EMAIL_1]' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 't1', name: 'mail', arguments: '{"to":"[EMAIL_1]"}' }] },
      {
        role: 'user',
        parts: [{ type: 'tool_call_response', id: 't1', response: [{ type: 'text', content: 'sent' }] }],
      },
    ])
  })

  it('contain no part of personal data at the place where a long text is cut off', () => {
    const filler = 'x '.repeat(32 * 1024 - 4)
    const [message] = messagesOf(requestOf(userText(`${filler}ada.lovelace@example.com ${filler}`))) as [object]
    const text = JSON.stringify(message)
    assert.ok(text.length < 70_000)
    assert.doesNotMatch(text, /ada/)
  })

  it('are the last ones of a long chat', () => {
    const long = 'word '.repeat(10_000)
    const kept = messagesOf(requestOf(userText('first'), userText(long), userText(long), userText('last'))) as object[]
    assert.equal(kept.length, 3)
    assert.doesNotMatch(JSON.stringify(kept), /first/)
  })

  const long = 'word '.repeat(10_000)
  const texts = Array.from({ length: 100 }, () => ({ type: 'text', text: long }) as const)
  const calls = Array.from({ length: 100 }, () => ({ type: 'tool-call', id: long, name: long, input: long }) as const)
  const emails = Array.from({ length: 100 }, () => ({ type: 'text', text: 'ada@example.com '.repeat(3_000) }) as const)
  for (const [title, message] of [
    ['texts', { role: 'user', parts: texts }],
    ['tool calls', { role: 'assistant', parts: calls }],
    ['parts with personal data', { role: 'user', parts: emails }],
    ['tool results', { role: 'user', parts: [{ type: 'tool-result', id: 't1', parts: texts, isError: false }] }],
  ] as const)
    it(`share one length and one search for personal data, however many ${title} a message has`, () => {
      let searched = 0
      const redact = (text: string): string => {
        searched += text.length
        return redactIrreversibly(text)
      }
      const attributes = contentAttributes(requestOf(message).messages, { text: '', stopReason: 'end' }, redact)
      assert.ok(String(attributes['gen_ai.input.messages']).length < 70_000)
      assert.ok(searched < 70_000, String(searched))
    })

  it('are few if a chat has thousands of empty ones', () => {
    const empty: Message[] = Array.from({ length: 100_000 }, () => ({ role: 'user', parts: [] }))
    assert.ok(JSON.stringify(messagesOf(requestOf(...empty))).length < 70_000)
  })
})
