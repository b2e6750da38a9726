import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { InferenceEvent, Chunk } from '../../domain/inference/events.ts'
import { createPlaceholderMap } from '../../domain/moderation/personal-data/placeholder-map.ts'
import { vendorFieldRoles as roles } from '../../wire/field-roles.ts'
import { redactedAnswer } from './redact-answer.ts'

const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\n-----END RSA PRIVATE KEY-----'

/** What a tool is told by an answer whose JSON came in two pieces, after a request with a key in it. */
async function toldTool(json: string): Promise<string> {
  const vault = createPlaceholderMap()
  vault.placeholderFor('secret', key)
  const events: InferenceEvent[] = [
    { type: 'open', block: 0, part: { type: 'tool-call', id: 't', name: 'send' } },
    ...[json.slice(0, 9), json.slice(9)].map((text): InferenceEvent => ({ type: 'delta', block: 0, text })),
    { type: 'close', block: 0 },
  ]
  async function* pieces(): AsyncGenerator<Chunk> {
    for (const event of events) yield { events: [event] }
  }
  let told = ''
  for await (const piece of redactedAnswer(pieces(), { vault, restores: true, roles }))
    for (const event of piece.events) if (event.type === 'delta') told += event.text
  return told
}

describe('a block that only its dialect understands, in an answer that is redacted', () => {
  const bytes = Buffer.from(Array.from({ length: 200 }, (_, at) => (at * 89) % 251)).toString('base64')
  const found = (title: string) => ({ type: 'web_search_result', id: 'a', title, encrypted_content: bytes })

  async function shown(raw: object): Promise<Chunk | undefined> {
    const part = { type: 'opaque', dialect: 'messages', raw } as const
    const body = { content: [raw] }
    async function* pieces(): AsyncGenerator<Chunk> {
      yield { events: [{ type: 'open', block: 0, part }], raw: { kind: 'document', dialect: 'messages', body } }
    }
    for await (const piece of redactedAnswer(pieces(), { vault: createPlaceholderMap(), restores: false, roles }))
      return piece
    return undefined
  }

  it('loses personal data, and nothing of its bytes', async () => {
    const part = { type: 'opaque', dialect: 'messages', raw: found('Of [EMAIL_1]') } as const
    assert.deepEqual(await shown(found('Of ada@example.org')), { events: [{ type: 'open', block: 0, part }] })
  })

  it('leaves the document as it is where there is none', async () => {
    assert.deepEqual((await shown(found('Of Ada')))?.raw?.kind, 'document')
  })
})

describe('a tool call in an answer that is redacted', () => {
  it('stays JSON, whatever the caller gets back in it', async () =>
    assert.deepEqual(JSON.parse(await toldTool('{"key":"[SECRET_1]","n":1}')), { key, n: 1 }))

  it('loses personal data that its JSON spells with escapes', async () =>
    assert.deepEqual(JSON.parse(await toldTool('{"to":"ada\\u0040example.org"}')), { to: '[EMAIL_1]' }))

  it('keeps its own spelling where nothing is changed', async () =>
    assert.equal(await toldTool('{ "to" : "all", "n": 1.0 }'), '{ "to" : "all", "n": 1.0 }'))
})
