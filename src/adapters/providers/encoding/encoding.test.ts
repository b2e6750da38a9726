import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, type Kind } from '../../../../test/support/provider-kit.ts'
import { requestBy } from '../../../../test/support/requests.ts'
import type { CallerFormat } from '../../../domain/inference/formats.ts'

const limitFields = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens']

const documents: Readonly<Record<Exclude<Kind, 'echo'>, object>> = {
  anthropic: { type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn', usage: {} },
  gemini: { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] },
  'openai-chat': { choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] },
  'openai-responses': { id: 'r', object: 'response', status: 'completed', output: [] },
}

/** The output limits that reach an upstream. */
async function limitsSent(
  kind: keyof typeof documents,
  dialect: CallerFormat,
  isOutputLimited: boolean,
): Promise<unknown[]> {
  const answer = {
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify(documents[kind])],
  }
  const { sent } = await ask({ kind, answer, request: requestBy(dialect), maxOutputTokens: 8192, isOutputLimited })
  const fields = { ...sent.body, ...(sent.body['generationConfig'] as object | undefined) } as typeof sent.body
  return limitFields.flatMap((field) => (fields[field] === undefined ? [] : [fields[field]]))
}

describe('an output limit that nobody set', () => {
  for (const dialect of ['messages', 'chat', 'responses'] as const) {
    it(`is sent for a ${dialect} caller only to an upstream that requires one`, async () => {
      assert.deepEqual(await limitsSent('openai-chat', dialect, false), [])
      assert.deepEqual(await limitsSent('openai-responses', dialect, false), [])
      assert.deepEqual(await limitsSent('gemini', dialect, false), [])
      assert.deepEqual(await limitsSent('anthropic', dialect, false), [8192])
    })

    it(`is sent for a ${dialect} caller to every upstream if the gateway must keep to it`, async () => {
      for (const kind of ['openai-chat', 'openai-responses', 'anthropic', 'gemini'] as const)
        assert.deepEqual(await limitsSent(kind, dialect, true), [8192])
    })
  }
})
