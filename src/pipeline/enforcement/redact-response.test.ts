import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Citation, InferenceEvent, Chunk } from '../../domain/inference/events.ts'
import { createPlaceholderMap } from '../../domain/scan/detect/personal-data/placeholder-map.ts'
import { vendorFieldRoles as roles } from '../../wire/field-roles.ts'
import { redactResponse } from './redact-response.ts'

const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\n-----END RSA PRIVATE KEY-----'

/** The arguments of a tool call whose JSON arrives in two chunks, after a request with a private key in it. */
async function toolArguments(json: string): Promise<string> {
  const placeholderMap = createPlaceholderMap()
  placeholderMap.placeholderFor('secret', key)
  const events: InferenceEvent[] = [
    { type: 'open', block: 0, part: { type: 'tool-call', id: 't', name: 'send' } },
    ...[json.slice(0, 9), json.slice(9)].map((text): InferenceEvent => ({ type: 'delta', block: 0, text })),
    { type: 'close', block: 0 },
  ]
  async function* chunks(): AsyncGenerator<Chunk> {
    for (const event of events) yield { events: [event] }
  }
  let input = ''
  for await (const chunk of redactResponse(chunks(), {
    placeholderMap: placeholderMap,
    restoresPersonalData: true,
    roles,
  }))
    for (const event of chunk.events) if (event.type === 'delta') input += event.text
  return input
}

describe('an opaque block in a redacted response', () => {
  const bytes = Buffer.from(Array.from({ length: 200 }, (_, at) => (at * 89) % 251)).toString('base64')
  const searchResult = (title: string) => ({ type: 'web_search_result', id: 'a', title, encrypted_content: bytes })

  async function redactBlock(raw: object): Promise<Chunk | undefined> {
    const part = { type: 'opaque', dialect: 'messages', raw } as const
    const body = { content: [raw] }
    async function* chunks(): AsyncGenerator<Chunk> {
      yield { events: [{ type: 'open', block: 0, part }], raw: { kind: 'document', dialect: 'messages', body } }
    }
    for await (const chunk of redactResponse(chunks(), {
      placeholderMap: createPlaceholderMap(),
      restoresPersonalData: false,
      roles,
    }))
      return chunk
    return undefined
  }

  it('loses personal data and keeps binary data', async () => {
    const part = { type: 'opaque', dialect: 'messages', raw: searchResult('Of [EMAIL_1]') } as const
    assert.deepEqual(await redactBlock(searchResult('Of ada@example.org')), {
      events: [{ type: 'open', block: 0, part }],
    })
  })

  it('keeps its raw document if there is no personal data', async () => {
    assert.deepEqual((await redactBlock(searchResult('Of Ada')))?.raw?.kind, 'document')
  })
})

describe('a tool call in a redacted response', () => {
  it('stays valid JSON when personal data is restored in it', async () =>
    assert.deepEqual(JSON.parse(await toolArguments('{"key":"[SECRET_1]","n":1}')), { key, n: 1 }))

  it('loses personal data that its JSON contains in escaped form', async () =>
    assert.deepEqual(JSON.parse(await toolArguments('{"to":"ada\\u0040example.org"}')), { to: '[EMAIL_1]' }))

  it('keeps the formatting of its JSON if nothing is redacted', async () =>
    assert.equal(await toolArguments('{ "to" : "all", "n": 1.0 }'), '{ "to" : "all", "n": 1.0 }'))
})

describe('a citation in a redacted response', () => {
  const citation: Citation = { url: 'https://example.org', title: 'Ada', range: { start: 0, end: 3 } }

  async function redactCited(text: string, cited: Citation): Promise<readonly InferenceEvent[]> {
    async function* chunks(): AsyncGenerator<Chunk> {
      const events: InferenceEvent[] = [
        { type: 'open', block: 0, part: { type: 'text' } },
        { type: 'citation', block: 0, citation: cited },
        { type: 'delta', block: 0, text },
        { type: 'close', block: 0 },
      ]
      for (const event of events) yield { events: [event] }
    }
    const parts = { placeholderMap: createPlaceholderMap(), restoresPersonalData: false, roles }
    return (await Array.fromAsync(redactResponse(chunks(), parts))).flatMap(({ events }) => events)
  }

  it('loses personal data in its title and passage, and follows the whole text of its block', async () => {
    const cited = { ...citation, title: 'Of ada@example.org', passage: 'Write to ada@example.org' }
    const events = await redactCited('Ask Ada.', cited)
    assert.deepEqual(
      events.map(({ type }) => type).filter((type) => type !== 'delta'),
      ['open', 'citation', 'close'],
    )
    assert.deepEqual(events.at(-2), {
      type: 'citation',
      block: 0,
      citation: { url: 'https://example.org', title: 'Of [EMAIL_1]', passage: 'Write to [EMAIL_1]' },
    })
  })

  it('is for the whole block if its text was changed, because the range no longer fits', async () => {
    const last = (await redactCited('Ask ada@example.org.', citation)).at(-2)
    assert.deepEqual(last?.type === 'citation' && last.citation, { url: 'https://example.org', title: 'Ada' })
  })
})
