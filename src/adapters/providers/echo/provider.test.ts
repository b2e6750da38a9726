import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { callOf, calls, result, say, tool } from '../../../../test/support/provider-kit.ts'
import { requestBy } from '../../../../test/support/requests.ts'
import { isFault } from '../../../base/fault.ts'
import type { Chunk } from '../../../domain/inference/events.ts'
import { foldEvents } from '../../../domain/inference/fold.ts'
import type { InferenceRequest } from '../../../domain/inference/request.ts'
import { createEchoProvider } from './provider.ts'

async function infer(overrides: Partial<InferenceRequest>, more = {}) {
  const provider = createEchoProvider('echo', (byteCount) => Math.ceil(byteCount / 4))
  const chunks: Chunk[] = []
  for await (const chunk of provider.infer(
    callOf({ request: requestBy('messages', overrides), model: 'gatehouse-echo', ...more }, () => {}),
  )) {
    chunks.push(chunk)
  }
  return { chunks, ...foldEvents(chunks.flatMap(({ events }) => events)) }
}

const withPrompt = (text: string): Partial<InferenceRequest> => ({ messages: [say('user', text)] })

describe('the echo provider', () => {
  it('repeats the prompt with its marker, in several chunks and deterministically', async () => {
    const first = await infer(withPrompt('to be or not to be'))
    assert.deepEqual(first.blocks, [{ type: 'text', text: '[gatehouse-echo] You said: to be or not to be' }])
    assert.equal(first.stopReason, 'end')
    assert.equal(first.model, 'gatehouse-echo')
    assert.ok(first.chunks.length > 3)
    assert.deepEqual(await infer(withPrompt('to be or not to be')), first)
  })

  it('reports usage', async () => {
    const { end } = await infer(withPrompt('hello'))
    assert.ok(end.usage.inputTokens > 0)
    assert.ok(end.usage.outputTokens > 0)
    assert.equal(end.usage.source, 'reported')
  })

  it('stops at the token limit, between two words', async () => {
    const { blocks, end } = await infer(withPrompt('to be or not to be'), { maxOutputTokens: 8 })
    assert.deepEqual(blocks, [{ type: 'text', text: '[gatehouse-echo] You said: ' }])
    assert.equal(end.stopReason, 'length')
    assert.equal(end.usage.outputTokens, 8)
  })

  it('stops at stop strings', async () => {
    const { blocks, end } = await infer({ ...withPrompt('to be or not to be'), stop: ['or not'] })
    assert.deepEqual(blocks, [{ type: 'text', text: '[gatehouse-echo] You said: to be ' }])
    assert.deepEqual([end.stopReason, end.stopSequence], ['stop-sequence', 'or not'])
  })

  it('calls free-text tools as functions with one argument, and reads their results', async () => {
    const patch = {
      type: 'opaque',
      dialect: 'responses',
      name: 'patch',
      raw: { type: 'custom', name: 'patch' },
    } as const
    const { blocks } = await infer({ ...withPrompt('call patch {"input":"+a"}'), tools: [patch] })
    assert.partialDeepStrictEqual(blocks, [{ type: 'tool-call', name: 'patch', input: '{"input":"+a"}' }])
    const raw = { type: 'custom_tool_call_output', call_id: 'c', output: 'done' }
    const response = await infer({ messages: [say('user', { type: 'opaque', dialect: 'responses', raw })] })
    assert.deepEqual(response.blocks, [{ type: 'text', text: '[gatehouse-echo] The tool answered: done' }])
  })

  it('emits thinking on request', async () => {
    const { blocks, end } = await infer({ ...withPrompt('why'), reasoning: { effort: 'low' } })
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ['thinking', 'text'],
    )
    assert.ok(end.usage.reasoningTokens > 0)
    assert.ok(end.usage.reasoningTokens < end.usage.outputTokens)
  })

  it('emits a refusal on request', async () => {
    const { blocks, stopReason } = await infer(withPrompt('Please refuse this.'))
    assert.equal(blocks[0]?.type, 'refusal')
    assert.equal(stopReason, 'refusal')
  })

  it('responds to a tool result', async () => {
    const messages = [say('user', 'call f'), say('assistant', calls('a', 'f')), say('user', result('a', 'sunny'))]
    const { blocks } = await infer({ messages, tools: [tool('f')], toolChoice: { type: 'required' } })
    assert.deepEqual(blocks, [{ type: 'text', text: '[gatehouse-echo] The tool answered: sunny' }])
  })

  it('returns JSON that fits the schema', async () => {
    const schema = {
      type: 'object',
      required: ['city', 'days', 'kind', 'place'],
      properties: {
        city: { type: 'string' },
        days: { type: 'array', items: { type: 'integer', minimum: 3 } },
        kind: { enum: ['hot', 'cold'] },
        place: { $ref: '#/$defs/Place' },
        note: { type: 'string' },
      },
      $defs: {
        Place: {
          type: ['object', 'null'],
          properties: { inside: { type: 'boolean' }, again: { $ref: '#/$defs/Place' } },
          required: ['inside'],
        },
      },
    }
    const { blocks } = await infer({ ...withPrompt('x'), outputFormat: { type: 'json-schema', name: 'o', schema } })
    assert.deepEqual(blocks, [
      { type: 'text', text: '{"city":"city","days":[3],"kind":"hot","place":{"inside":true}}' },
    ])
  })

  it('handles a recursive schema', async () => {
    const schema = { type: 'object', properties: { again: { $ref: '#' } }, required: ['again'], $ref: '#/x' }
    const endless = { type: 'object', properties: { a: { $ref: '#/properties/a' } } }
    for (const each of [schema, endless]) {
      const { end } = await infer({
        ...withPrompt('x'),
        outputFormat: { type: 'json-schema', name: 'o', schema: each },
      })
      assert.equal(end.stopReason, 'end')
    }
  })

  it('stops when the caller disconnects', async () => {
    await assert.rejects(infer(withPrompt('x'), { signal: AbortSignal.abort() }), isFault)
  })
})

describe('the echo provider with tools', () => {
  const tools = [
    tool('weather', { parameters: { type: 'object', properties: { city: { type: 'string' } } } }),
    tool('clock'),
  ]

  it('calls the tools that the prompt names, with arguments from the schema', async () => {
    const { blocks, stopReason } = await infer({ ...withPrompt('Please use weather and clock.'), tools })
    assert.deepEqual(
      blocks.map((block) => (block.type === 'tool-call' ? [block.name, block.input] : block)),
      [
        ['weather', '{"city":"city"}'],
        ['clock', '{"path":"path"}'],
      ],
    )
    assert.equal(stopReason, 'tool-call')
  })

  it('uses the arguments in the prompt', async () => {
    const { blocks } = await infer({ ...withPrompt('call weather {"city":"Rome","more":{}} please'), tools })
    assert.equal(blocks[0]?.type === 'tool-call' && blocks[0].input, '{"city":"Rome","more":{}}')
  })

  it('calls one if the tool choice requires it, and none if it forbids it', async () => {
    const forced = await infer({ ...withPrompt('hi'), tools, toolChoice: { type: 'required' } })
    const named = await infer({ ...withPrompt('hi'), tools, toolChoice: { type: 'tool', name: 'clock' } })
    const none = await infer({ ...withPrompt('use weather'), tools, toolChoice: { type: 'none' } })
    const single = await infer({ ...withPrompt('use weather and clock'), tools, parallelToolCalls: false })
    const namesOf = ({ blocks }: typeof none) =>
      blocks.flatMap((block) => (block.type === 'tool-call' ? [block.name] : []))
    assert.deepEqual([forced, named, none, single].map(namesOf), [['weather'], ['clock'], [], ['weather']])
  })

  it('calls no tool if none is named', async () => {
    assert.equal((await infer({ ...withPrompt('use your head'), tools })).blocks[0]?.type, 'text')
  })
})
