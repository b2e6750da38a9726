import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { ask, askAndFail, jsonHeaders, streamHeaders } from '../../../../test/support/provider-kit.ts'
import { replayRecordings } from '../../../../test/support/replay.ts'
import { requestBy } from '../../../../test/support/requests.ts'

replayRecordings({
  kind: 'gemini',
  folder: join(import.meta.dirname, 'fixtures'),
  errorFrame:
    'data: {"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}\r\n\r\n',
})

const document = (body: object) => ({ headers: jsonHeaders, chunks: [JSON.stringify(body)] })
const candidate = (parts: readonly object[], finishReason = 'STOP') => ({
  candidates: [{ content: { role: 'model', parts }, finishReason }],
})
const answerOf = (body: object) => ask({ kind: 'gemini', request: requestBy('messages'), answer: document(body) })

describe('a finish reason', () => {
  for (const reason of ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'LANGUAGE'])
    it(`${reason} is a filtered response`, async () => {
      const { folded } = await answerOf(candidate([{ text: 'No' }], reason))
      assert.equal(folded.stopReason, 'filtered')
    })

  for (const reason of ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'OTHER', 'SOMETHING_NEW'])
    it(`${reason} is an upstream error, because the response is not complete`, async () => {
      const fault = await askAndFail({ kind: 'gemini', answer: document(candidate([], reason)) })
      assert.deepEqual([fault.kind, fault.message.includes(reason)], ['upstream_failed', true])
    })

  it('with every event of a stream does not end the response before its last event', async () => {
    const chunks = ['One', ' two'].map((text) => `data: ${JSON.stringify(candidate([{ text }]))}\r\n\r\n`)
    const { folded } = await ask({ kind: 'gemini', answer: { headers: streamHeaders, chunks } })
    assert.deepEqual(folded.blocks, [{ type: 'text', text: 'One two' }])
  })
})

describe('a body that is not a response', () => {
  it('is an upstream error', async () => {
    const fault = await askAndFail({ kind: 'gemini', answer: document({ models: [] }) })
    assert.equal(fault.kind, 'upstream_failed')
  })

  it('is an upstream error if it contains an image, because callers could not see it', async () => {
    const inlineData = { mimeType: 'image/png', data: 'iVBO' }
    const fault = await askAndFail({ kind: 'gemini', answer: document(candidate([{ inlineData }])) })
    assert.equal(fault.kind, 'upstream_failed')
  })
})

describe('a signature', () => {
  const typesOf = async (parts: readonly object[]) => {
    const { folded } = await answerOf(candidate(parts))
    return folded.blocks.map((block) => [block.type, 'signature' in block && block.signature !== undefined])
  }
  const functionCall = { name: 'read', args: {} }

  it('of a call belongs to the thoughts before it', async () => {
    const parts = [
      { text: 'Hm', thought: true },
      { functionCall, thoughtSignature: 'c2ln' },
    ]
    assert.deepEqual(await typesOf(parts), [
      ['thinking', true],
      ['tool-call', false],
    ])
  })

  it('of a call without visible thoughts gets an empty thinking block', async () => {
    const parts = [{ text: 'Reading.' }, { functionCall, thoughtSignature: 'c2ln' }, { functionCall }]
    assert.deepEqual(await typesOf(parts), [
      ['text', false],
      ['thinking', true],
      ['tool-call', false],
      ['tool-call', false],
    ])
  })

  it('of a text without visible thoughts is not kept', async () => {
    assert.deepEqual(await typesOf([{ text: 'Yes', thoughtSignature: 'c2ln' }]), [['text', false]])
  })
})

describe('the usage', () => {
  it('counts thoughts as output, and prompts of tools as input', async () => {
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      toolUsePromptTokenCount: 7,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
    }
    const { folded } = await answerOf({ ...candidate([{ text: 'Yes' }]), usageMetadata })
    assert.deepEqual(folded.end?.usage, {
      inputTokens: 47,
      cacheReadTokens: 60,
      cacheWriteTokens: 0,
      outputTokens: 50,
      reasoningTokens: 30,
      source: 'reported',
    })
  })

  it('is estimated if it is missing', async () => {
    const { folded } = await answerOf(candidate([{ text: 'Yes' }]))
    assert.equal(folded.end?.usage.source, 'estimated')
  })
})
