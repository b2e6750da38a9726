import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { systemRandom } from '../../src/base/random.ts'
import { callerFormats, type CallerFormat } from '../../src/domain/inference/formats.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import type { TestUpstream } from '../support/upstream.ts'
import { failureOf, type Address } from './client.ts'
import { chatClients } from './drivers/chat.ts'
import { messagesClients } from './drivers/messages.ts'
import { responsesClients } from './drivers/responses.ts'
import { startGemini } from './gemini-upstream.ts'

const openai = ({ url, apiKey }: Address): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
const anthropic = ({ url, apiKey }: Address): Anthropic => new Anthropic({ baseURL: url, apiKey, maxRetries: 0 })
const clients = [
  ...messagesClients('Anthropic', anthropic),
  ...responsesClients('OpenAI', openai),
  ...chatClients('OpenAI', openai),
]

const model = 'gemini-3-pro-preview'

describe('a Gemini upstream', () => {
  let upstream: TestUpstream
  let app: TestApp
  before(async () => {
    upstream = await startGemini()
    app = await startTestApp({
      config: {
        upstreams: [
          { name: 'google', kind: 'gemini', base_url: upstream.url, api_key: 'upstream-key' },
          { name: 'misconfigured', kind: 'gemini', base_url: `${upstream.url}/v1beta`, api_key: 'wrong' },
        ],
        models: [
          { name: model, targets: [{ upstream: 'google' }] },
          { name: 'misconfigured', targets: [{ upstream: 'misconfigured', model }] },
        ],
      },
      // Retries run immediately.
      random: { ...systemRandom, fraction: () => 0 },
    })
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })

  for (const client of clients) {
    it(`answers ${client.name}`, async () => {
      const { text, outputTokens } = await client.send(app, { model, text: 'Grüße, 世界' })
      assert.equal(text, 'You said: Grüße, 世界 👋')
      if (client.showsUsage !== false) assert.equal(outputTokens, 10, 'thoughts are output')
    })

    it(`calls tools of ${client.name} and reads their results`, async () => {
      const inputs: unknown[] = []
      const tool = {
        name: 'read',
        description: 'Reads a file.',
        schema: { type: 'object' as const, properties: { path: { type: 'string' } }, required: ['path'] },
        run: (input: unknown): string => `file ${inputs.push(input)}`,
      }
      const { text } = await client.send(app, { model, text: 'call read', tool })
      assert.deepEqual(inputs, [{ path: 'a' }, { path: 'b' }])
      // Chat completions has no field for signatures.
      const signed = client.dialect === 'chat' ? 'unsigned' : 'signed'
      assert.equal(text, `The tool said file 1 and file 2, ${signed}.`)
    })

    if (client.dialect !== 'chat')
      it(`shows thoughts to ${client.name}`, async () => {
        const { text, thinking } = await client.send(app, { model, text: 'Think', wantsThinking: true })
        assert.deepEqual([text, thinking], ['You said: Think 👋', 'Hm, well.'])
      })

    it(`tells ${client.name} what failed`, async () => {
      const failing = (text: string, of = model) => failureOf(client.send(app, { model: of, text }))
      const rejected = await failing('fail with 400')
      assert.deepEqual([rejected.status, /Google says 400/.test(rejected.message)], [400, true])
      const overloaded = client.dialect === 'messages' ? 529 : 503
      assert.equal((await failing('fail with 429')).status, overloaded)
      assert.equal((await failing('fail with 500')).status, 502)
      const hidden = await failing('Hello', 'misconfigured')
      assert.deepEqual([hidden.status, /Google says/.test(hidden.message)], [502, false])
    })
  }

  const data = 'iVBORw0KGgo='
  const imageBodies: Readonly<Record<CallerFormat, readonly [path: string, body: object]>> = {
    messages: [
      '/v1/messages',
      {
        max_tokens: 100,
        messages: [
          { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }] },
        ],
      },
    ],
    responses: [
      '/v1/responses',
      {
        input: [
          {
            role: 'user',
            content: [{ type: 'input_image', image_url: `data:image/png;base64,${data}`, detail: 'auto' }],
          },
        ],
      },
    ],
    chat: [
      '/v1/chat/completions',
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }] },
        ],
      },
    ],
  }
  const post = (path: string, body: object): Promise<Response> =>
    fetch(app.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...body }),
    })

  for (const format of callerFormats)
    for (const stream of [false, true])
      it(`sees images of ${format} callers${stream ? ' in a stream' : ''}`, async () => {
        const [path, body] = imageBodies[format]
        const text = await (await post(path, { ...body, stream })).text()
        const joined = stream
          ? [...text.matchAll(/"(?:text|delta|content)":"([^"]*)"/g)].map(([, part]) => part)
          : [text]
        assert.match(joined.join(''), /I see image\/png\./)
      })

  it('says how long to wait when its quota is exhausted', async () => {
    const response = await post('/v1/chat/completions', { messages: [{ role: 'user', content: 'fail with 429' }] })
    await response.text()
    assert.equal(response.headers.get('retry-after'), '7')
  })
})
