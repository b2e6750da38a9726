import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Script } from 'node:vm'
import { bodyOf, settingsOf, type Texts } from './draft.ts'
import { dialects, type PlaygroundSearch } from './search.ts'
import { languages, snippetOf } from './snippets.ts'

const texts: Texts = {
  system: '',
  turns: [{ role: 'user', text: `It's "new"\n$HOME` }],
  tools: '[{"strict":true,"x":null}]',
  parameters: '',
}

const snippet = (language: (typeof languages)[number], search: PlaygroundSearch): string => {
  const settings = settingsOf({ model: 'm', ...search }, { model: undefined, project: undefined })
  return snippetOf(language, { url: 'https://gw.example', settings, body: bodyOf(settings, texts) })
}

const paths = { messages: '/v1/messages', responses: '/v1/responses', chat: '/v1/chat/completions' }
const calls = { messages: 'messages.create(', responses: 'responses.create(', chat: 'chat.completions.create(' }

for (const dialect of dialects)
  describe(`the code for ${dialect}`, () => {
    it('calls its endpoint with curl, and keeps quotes from the shell', () => {
      const code = snippet('curl', { dialect })
      assert.ok(code.startsWith(`curl https://gw.example${paths[dialect]} \\\n`))
      assert.ok(code.includes(String.raw`It'\''s \"new\"\n$HOME`))
      assert.ok(code.includes('Bearer $GATEHOUSE_KEY'))
    })
    it('is TypeScript that parses, with the client of the vendor', () => {
      const code = snippet('typescript', { dialect, stream: false })
      assert.doesNotThrow(() => new Script(`async () => {${code.replace(/^import .*$/m, '')}}`))
      assert.ok(code.includes(calls[dialect]))
      assert.ok(
        code.includes(dialect === 'messages' ? `baseURL: 'https://gw.example'` : `baseURL: 'https://gw.example/v1'`),
      )
    })
    it('has the literals of Python, not those of JSON', () => {
      const code = snippet('python', { dialect })
      assert.ok(code.includes(calls[dialect]))
      assert.ok(code.includes('{"strict": True, "x": None}'))
      assert.doesNotMatch(code, /\b(?:true|false|null)\b/)
    })
  })

describe('the code', () => {
  for (const language of languages) {
    it(`in ${language} sends the labels as headers, and none without labels`, () => {
      assert.match(snippet(language, { user: "Ann's" }), /x-policy-user/)
      assert.doesNotMatch(snippet(language, {}), /x-policy|eaders/)
    })
    it(`in ${language} never contains a key`, () => assert.match(snippet(language, {}), /GATEHOUSE_KEY/))
  }
  it('reads the events of a stream, or prints the answer', () => {
    assert.match(snippet('typescript', {}), /for await \(const event of stream\)/)
    assert.match(snippet('typescript', { stream: false }), /console\.log\(answer\)/)
    assert.match(snippet('python', {}), /for event in stream:\n {4}print\(event\)/)
    assert.match(snippet('python', { stream: false }), /print\(answer\)/)
  })
})
