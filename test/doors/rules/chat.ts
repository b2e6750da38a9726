import assert from 'node:assert/strict'
import { readFrames } from '../../support/sse-server.ts'

type Json = Record<string, any>

const finishes = ['stop', 'length', 'tool_calls', 'content_filter']

/** The rules that keep every known client of the Chat Completions API working, written without a look at the writer. */
export function checkChatStream(text: string, how: 'complete' | 'failed', wantsUsage: boolean): void {
  const frames = readFrames(text)
  for (const frame of frames) assert.equal(frame.event, undefined, 'this dialect has no event lines')
  assert.equal(frames.pop()?.data, '[DONE]')
  const chunks = frames.map((frame): Json => JSON.parse(frame.data))
  if (how === 'failed') {
    const last = chunks.pop()
    assert.deepEqual(Object.keys(last?.error).toSorted(), ['code', 'message', 'param', 'type'])
  } else {
    if (wantsUsage) checkUsage(chunks.pop())
    const choice = onlyChoice(chunks.pop())
    assert.ok(finishes.includes(choice.finish_reason))
    checkDeltas([...chunks.map(onlyChoice), choice])
    return
  }
  checkDeltas(chunks.map(onlyChoice))
}

function onlyChoice(chunk: Json | undefined): Json {
  assert.equal(chunk?.object, 'chat.completion.chunk')
  assert.deepEqual([chunk.id, chunk.model], ['chat_answer', 'house-model'])
  assert.equal(chunk.usage ?? null, null, 'usage is only in the last chunk')
  assert.equal(chunk.choices.length, 1)
  assert.equal(chunk.choices[0].index, 0)
  return chunk.choices[0]
}

function checkUsage(chunk: Json | undefined): void {
  assert.deepEqual(chunk?.choices, [])
  assert.equal(chunk.usage.total_tokens, chunk.usage.prompt_tokens + chunk.usage.completion_tokens)
  assert.equal(typeof chunk.estimated_credits_used, 'number')
}

function checkDeltas(choices: Json[]): void {
  const calls: Json[] = []
  for (const [at, { delta, finish_reason: finish }] of choices.entries()) {
    assert.equal(delta.role, at === 0 ? 'assistant' : undefined, 'the role is said once')
    if (at < choices.length - 1) assert.equal(finish, null)
    for (const call of delta.tool_calls ?? []) checkCall(calls, call)
  }
}

function checkCall(calls: Json[], call: Json): void {
  const known = calls[call.index]
  if (known === undefined) {
    assert.equal(call.index, calls.length, 'indexes have no gaps')
    assert.equal(call.type, 'function')
    assert.ok(call.id && call.function.name)
    calls.push(call)
  } else {
    assert.deepEqual(Object.keys(call).toSorted(), ['function', 'index'], 'id, type and name are said once')
    assert.deepEqual(Object.keys(call.function), ['arguments'])
  }
}
