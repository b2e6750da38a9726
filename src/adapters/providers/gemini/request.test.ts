import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  ask,
  calls,
  image,
  jsonHeaders,
  pdf,
  refusedBy,
  result,
  say,
  sentTo,
  tool,
} from '../../../../test/support/provider-kit.ts'
import { requestBy } from '../../../../test/support/requests.ts'
import type { ContentPart, InferenceRequest } from '../../../domain/inference/request.ts'

const sent = (overrides: Partial<InferenceRequest>, more = {}) => sentTo('gemini', requestBy('chat', overrides), more)

const contentsOf = async (messages: InferenceRequest['messages'], model = 'gemini-2.5-flash') =>
  (await sent({ messages }, { model })).body['contents']

const configOf = async (overrides: Partial<InferenceRequest>, more: object = {}) =>
  (await sent(overrides, { isOutputLimited: false, ...more })).body['generationConfig']

describe('a request to a Gemini upstream', () => {
  it('names the model and the method in its URL, and has the key in a header', async () => {
    const { url, headers } = await sent({ stream: false }, { model: 'gemini-2.5-flash' })
    assert.equal(url, 'https://upstream.test/v1beta/models/gemini-2.5-flash:generateContent')
    assert.deepEqual([headers['x-goog-api-key'], headers['authorization']], ['key', undefined])
    const streamed = await sent({ stream: true }, { model: 'models/gemini-2.5-flash' })
    assert.equal(streamed.url, 'https://upstream.test/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse')
    assert.equal(streamed.headers['accept'], 'text/event-stream')
  })

  it('accepts a base URL with the version, and keeps its query', async () => {
    const settings = { baseUrl: 'https://proxy.test/google/v1beta/?tenant=a' }
    const { url } = await sent({}, { settings, model: 'm' })
    assert.equal(url, 'https://proxy.test/google/v1beta/models/m:streamGenerateContent?tenant=a&alt=sse')
  })

  it('cannot reach another path with the name of a model', async () => {
    const { url } = await sent({ stream: false }, { model: '../files/x?y#z' })
    assert.equal(url, 'https://upstream.test/v1beta/models/..%2Ffiles%2Fx%3Fy%23z:generateContent')
  })

  it('contains only the conversation and the limit by default', async () => {
    const { body } = await sent({}, { maxOutputTokens: 77 })
    assert.deepEqual(body, {
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      generationConfig: { maxOutputTokens: 77 },
    })
  })

  it('collects all system text as the system instruction', async () => {
    const { body } = await sent({ messages: [say('system', 'one'), say('user', 'hi'), say('system', 'two')] })
    assert.deepEqual(body['systemInstruction'], { parts: [{ text: 'one\n\ntwo' }] })
    assert.deepEqual(body['contents'], [{ role: 'user', parts: [{ text: 'hi' }] }])
  })

  it('has the sampling settings, five stop strings, and the seed of a chat caller', async () => {
    const overrides = { temperature: 0.5, topP: 0.9, topK: 40, stop: ['a', 'b', 'c', 'd', 'e', 'f'] }
    const raw = { ...requestBy('chat').raw, body: { seed: 7 } }
    assert.deepEqual(await configOf({ ...overrides, raw }), {
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      seed: 7,
      stopSequences: ['a', 'b', 'c', 'd', 'e'],
    })
  })

  it('reports the fields that the format lacks', async () => {
    const { dropped } = await sent({ user: 'u', metadata: { a: 'b' }, parallelToolCalls: false })
    assert.deepEqual(dropped, ['metadata', 'user', 'parallel_tool_calls'])
  })
})

describe('tool calls and results', () => {
  it('have ids and names, and results come first with their images after them', async () => {
    const contents = await contentsOf([
      say('user', 'go'),
      say('assistant', calls('a', 'read', '{"path":"x"}'), calls('b', 'ns.list', '')),
      say('user', 'hurry', result('a', 'one', image)),
      say('user', { ...result('b', 'no such folder'), isError: true } as ContentPart),
    ])
    const [, called, answered] = contents as { parts: Record<string, Record<string, unknown>>[] }[]
    assert.deepEqual(called?.parts[0], { functionCall: { id: 'a', name: 'read', args: { path: 'x' } } })
    const portable = called?.parts[1]?.['functionCall']?.['name']
    assert.match(String(portable), /^ns_list_[0-9a-f]+$/)
    assert.deepEqual(answered?.parts, [
      { functionResponse: { id: 'a', name: 'read', response: { output: 'one\n\n[image: see below]' } } },
      { functionResponse: { id: 'b', name: portable, response: { error: 'no such folder' } } },
      { inlineData: { mimeType: 'image/png', data: 'iVBO' } },
      { text: 'hurry' },
    ])
  })

  it('of the first call need a signature since version 3, so one that another model made gets a documented text', async () => {
    const messages = [say('user', 'go'), say('assistant', calls('a', 'read'), calls('b', 'read'))]
    const signaturesOf = async (model: string) => {
      const contents = (await contentsOf(messages, model)) as { parts: Record<string, unknown>[] }[]
      return contents[1]?.parts.map((part) => part['thoughtSignature'])
    }
    assert.deepEqual(await signaturesOf('gemini-2.5-pro'), [undefined, undefined])
    assert.deepEqual(await signaturesOf('gemini-3-pro-preview'), ['skip_thought_signature_validator', undefined])
  })

  it('keep the signature of the model through a caller of another format', async () => {
    const functionCall = { name: 'read', args: {}, id: 'c1' }
    const parts = [{ text: 'Hm', thought: true }, { functionCall, thoughtSignature: 'c2ln' }, { functionCall }]
    const body = { candidates: [{ content: { parts }, finishReason: 'STOP' }] }
    const answer = { headers: jsonHeaders, chunks: [JSON.stringify(body)] }
    const model = 'gemini-3-pro-preview'
    for (const dialect of ['messages', 'responses'] as const) {
      const { folded } = await ask({ kind: 'gemini', request: requestBy(dialect), model, answer })
      const messages = [say('user', 'go'), { role: 'assistant' as const, parts: folded.blocks as ContentPart[] }]
      const history = await sentTo('gemini', requestBy(dialect, { messages }), { model })
      const [, turn] = history.body['contents'] as { parts: Record<string, unknown>[] }[]
      assert.deepEqual(
        turn?.parts.map((part) => part['thoughtSignature']),
        ['c2ln', undefined],
      )
      const other = await sentTo('gemini', requestBy(dialect, { messages }), { model: 'gemini-3-flash' })
      assert.doesNotMatch(JSON.stringify(other.body), /c2ln/, 'another model rejects it')
    }
  })
})

describe('tools', () => {
  const emptyTool = tool('now', { parameters: { type: 'object' } })

  it('become function declarations with the part of JSON Schema that the API accepts', async () => {
    const parameters = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        kind: { const: 'file' },
        path: { type: ['string', 'null'], format: 'uri', pattern: '^/', description: 'Where.' },
        at: { oneOf: [{ type: 'string', format: 'date-time' }, { $ref: '#/definitions/time' }] },
      },
      required: ['path'],
      additionalProperties: false,
      definitions: { time: { type: 'integer', exclusiveMinimum: 0 } },
    }
    const { body } = await sent({ tools: [tool('read', { description: 'Reads.', parameters }), emptyTool] })
    assert.deepEqual(body['tools'], [
      {
        functionDeclarations: [
          {
            name: 'read',
            description: 'Reads.',
            parametersJsonSchema: {
              type: 'object',
              properties: {
                kind: { enum: ['file'] },
                path: { type: ['string', 'null'], description: 'Where.' },
                at: { anyOf: [{ type: 'string', format: 'date-time' }, { $ref: '#/$defs/time' }] },
              },
              required: ['path'],
              additionalProperties: false,
              $defs: { time: { type: 'integer' } },
            },
          },
          { name: 'now' },
        ],
      },
    ])
  })
  it('are chosen by the mode of the function calling config', async () => {
    const configFor = async (toolChoice: InferenceRequest['toolChoice']) =>
      (await sent({ tools: [tool('read')], ...(toolChoice && { toolChoice }) })).body['toolConfig']
    const config = (functionCallingConfig: object) => ({ functionCallingConfig })
    assert.equal(await configFor(undefined), undefined)
    assert.deepEqual(await configFor({ type: 'auto' }), config({ mode: 'AUTO' }))
    assert.deepEqual(await configFor({ type: 'required' }), config({ mode: 'ANY' }))
    assert.deepEqual(await configFor({ type: 'none' }), config({ mode: 'NONE' }))
    const read = config({ mode: 'ANY', allowedFunctionNames: ['read'] })
    assert.deepEqual(await configFor({ type: 'tool', name: 'read' }), read)
  })
})

describe('images and documents', () => {
  it('are sent inline, or by an address that the API fetches', async () => {
    const byUrl: ContentPart = { type: 'image', source: { kind: 'url', url: 'https://x.test/a.JPG?s=1' } }
    const unknown: ContentPart = { type: 'file', source: { kind: 'url', url: 'https://x.test/report' } }
    const text: ContentPart = { type: 'file', name: 'a.txt', source: { kind: 'text', text: 'plain' } }
    assert.deepEqual(await contentsOf([say('user', image, pdf, byUrl, unknown, text)]), [
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: 'image/png', data: 'iVBO' } },
          { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
          { fileData: { mimeType: 'image/jpeg', fileUri: 'https://x.test/a.JPG?s=1' } },
          { fileData: { fileUri: 'https://x.test/report' } },
          { text: 'a.txt\n\nplain' },
        ],
      },
    ])
  })

  const rejected: readonly [string, ContentPart][] = [
    ['images of type image/gif', { type: 'image', source: { kind: 'base64', mediaType: 'image/gif', data: 'R0lG' } }],
    ['images by this kind of URL', { type: 'image', source: { kind: 'url', url: 'http://x.test/a.png' } }],
    ['images by file id', { type: 'image', source: { kind: 'file', id: 'file_1' } }],
    [
      'files of type application/zip',
      { type: 'file', source: { kind: 'base64', mediaType: 'application/zip', data: 'UEs=' } },
    ],
    ['files by id', { type: 'file', source: { kind: 'file', id: 'file_1' } }],
  ]
  for (const [content, part] of rejected)
    it(`are rejected with the field: ${content}`, async () => {
      const fault = await refusedBy('gemini', requestBy('chat', { messages: [say('user', part)] }))
      assert.deepEqual([fault.code, fault.details.param], ['unsupported_parameter', 'messages'])
      assert.ok(fault.message.includes(content), fault.message)
    })
})

describe('JSON output', () => {
  it('has a media type, and a schema if there is one', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer', multipleOf: 2 } } }
    assert.deepEqual(await configOf({ outputFormat: { type: 'json-object' } }), {
      responseMimeType: 'application/json',
    })
    assert.deepEqual(await configOf({ outputFormat: { type: 'json-schema', name: 'x', schema } }), {
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object', properties: { n: { type: 'integer' } } },
    })
  })
})

describe('thinking', () => {
  const thinkingFor = async (model: string, reasoning: InferenceRequest['reasoning'], more: object = {}) => {
    const { body, dropped } = await sent(
      { ...(reasoning && { reasoning }) },
      { model, isOutputLimited: false, ...more },
    )
    const config = body['generationConfig'] as Record<string, unknown> | undefined
    return { config: config?.['thinkingConfig'], dropped }
  }
  const cases: readonly [model: string, InferenceRequest['reasoning'], config: object | undefined][] = [
    ['gemini-2.5-flash', undefined, undefined],
    ['gemini-2.5-flash', { budgetTokens: 5000, visible: true }, { thinkingBudget: 5000, includeThoughts: true }],
    ['gemini-2.5-flash', { effort: 'none' }, { thinkingBudget: 0 }],
    ['gemini-2.5-flash', { effort: 'max' }, { thinkingBudget: 24_576 }],
    ['gemini-2.5-flash-lite', { budgetTokens: 100 }, { thinkingBudget: 512 }],
    ['gemini-2.5-pro', { effort: 'none', visible: true }, { thinkingBudget: 128 }],
    ['gemini-flash-latest', { effort: 'low' }, { thinkingBudget: 1024 }],
    ['gemini-3-flash-preview', { effort: 'none' }, { thinkingLevel: 'MINIMAL' }],
    ['gemini-3-pro-preview', { effort: 'minimal' }, { thinkingLevel: 'LOW' }],
    ['gemini-3.1-pro', { effort: 'xhigh', visible: true }, { thinkingLevel: 'HIGH', includeThoughts: true }],
    ['gemini-3-pro-preview', { budgetTokens: 4096 }, { thinkingLevel: 'MEDIUM' }],
  ]
  for (const [model, reasoning, config] of cases)
    it(`of ${model} with ${JSON.stringify(reasoning)} is ${JSON.stringify(config)}`, async () => {
      assert.deepEqual(await thinkingFor(model, reasoning), { config, dropped: [] })
    })

  it('leaves half of the output limit to the answer', async () => {
    const limits = { isOutputLimited: true, maxOutputTokens: 3000 }
    const { config } = await thinkingFor('gemini-2.5-flash', { effort: 'high' }, limits)
    assert.deepEqual(config, { thinkingBudget: 1500 })
  })

  it('is reported as dropped for a model that cannot think', async () => {
    for (const model of ['gemini-2.0-flash', 'gemma-3-27b-it'])
      assert.deepEqual(await thinkingFor(model, { effort: 'high' }), {
        config: undefined,
        dropped: ['reasoning_effort'],
      })
  })
})
