import assert from 'node:assert/strict'
import { readFrames } from '../../support/sse-server.ts'

/** A chunk with the type that clients assume. The checks verify the fields that they use. */
type Chunk = {
  readonly object: string
  readonly id: string
  readonly model: string
  readonly choices: readonly Choice[]
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number }
  readonly error: object
  readonly estimated_credits_used: number
}

type Choice = {
  readonly index: number
  readonly finish_reason: string | null
  readonly delta: { readonly role?: string; readonly tool_calls?: readonly Call[] }
}

type Call = {
  readonly index: number
  readonly id?: string
  readonly type?: string
  readonly function: { readonly name?: string }
}

const finishes = ['stop', 'length', 'tool_calls', 'content_filter']

/** The stream rules that every known client of the Chat Completions API relies on, written independently of the stream writer. */
export function checkChatStream(text: string, how: 'complete' | 'failed', wantsUsage: boolean): void {
  const frames = readFrames(text)
  for (const frame of frames) assert.equal(frame.event, undefined, 'this dialect has no event lines')
  assert.equal(frames.pop()?.data, '[DONE]')
  const chunks = frames.map((frame): Chunk => JSON.parse(frame.data))
  if (how === 'failed') {
    const last = chunks.pop()
    assert.deepEqual(Object.keys(last?.error ?? {}).toSorted(), ['code', 'message', 'param', 'type'])
  } else {
    if (wantsUsage) checkUsage(chunks.pop())
    const choice = onlyChoice(chunks.pop())
    assert.ok(finishes.includes(choice.finish_reason ?? ''))
    checkDeltas([...chunks.map(onlyChoice), choice])
    return
  }
  checkDeltas(chunks.map(onlyChoice))
}

function onlyChoice(chunk: Chunk | undefined): Choice {
  assert.equal(chunk?.object, 'chat.completion.chunk')
  assert.deepEqual([chunk.id, chunk.model], ['chat_answer', 'default-model'])
  assert.equal(chunk.usage ?? null, null, 'usage is only in the last chunk')
  const [choice, ...others] = chunk.choices
  assert.deepEqual(others, [])
  assert.equal(choice?.index, 0)
  return choice
}

function checkUsage(chunk: Chunk | undefined): void {
  assert.deepEqual(chunk?.choices, [])
  assert.ok(chunk.usage)
  assert.equal(chunk.usage.total_tokens, chunk.usage.prompt_tokens + chunk.usage.completion_tokens)
  assert.equal(typeof chunk.estimated_credits_used, 'number')
}

function checkDeltas(choices: readonly Choice[]): void {
  const calls: Call[] = []
  for (const [at, { delta, finish_reason: finish }] of choices.entries()) {
    assert.equal(delta.role, at === 0 ? 'assistant' : undefined, 'the role is said once')
    if (at < choices.length - 1) assert.equal(finish, null)
    for (const call of delta.tool_calls ?? []) checkCall(calls, call)
  }
}

function checkCall(calls: Call[], call: Call): void {
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
