import assert from 'node:assert/strict'
import { readFrames } from '../../support/sse-server.ts'

/** An event with the type that clients assume. The checks verify the fields that they use. */
type Event = {
  readonly type: string
  readonly index: number
  readonly message: {
    readonly content: readonly unknown[]
    readonly stop_reason: string | null
    readonly usage: { readonly input_tokens: number; readonly output_tokens: number }
  }
  readonly content_block: Block
  readonly delta: { readonly type: string; readonly partial_json: string; readonly stop_reason: string }
  readonly usage: { readonly output_tokens: number }
  readonly error: { readonly type: string; readonly message: string }
  readonly estimated_credits_used: number
}

type Block = Readonly<Record<'type' | 'text' | 'thinking' | 'signature' | 'id' | 'name' | 'data', string>> & {
  readonly input: object
}

const deltasOf: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
  redacted_thinking: [],
}

type Open = { readonly block: Block; isSigned: boolean }

/** The stream rules that every known client of the Messages API relies on, written independently of the stream writer. */
export function checkMessagesStream(text: string, how: 'complete' | 'failed'): void {
  const events = readFrames(text).map(({ event, data }) => {
    const json: Event = JSON.parse(data)
    assert.equal(json.type, event, 'a frame has the event line that its data names')
    return json
  })
  const last = events.pop()
  if (how === 'failed') {
    assert.equal(last?.type, 'error')
    assert.equal(typeof last.error.type, 'string')
    assert.equal(typeof last.error.message, 'string')
  } else {
    assert.deepEqual(last, { type: 'message_stop' })
    const ending = events.pop()
    checkEnding(ending)
    // A truncated answer may end in the middle of its JSON.
    if (ending?.delta.stop_reason !== 'refusal') checkInputs(events)
  }
  checkBody(events, how)
}

function checkBody(events: readonly Event[], how: 'complete' | 'failed'): void {
  const [first, ...rest] = events
  if (first === undefined) return assert.equal(how, 'failed', 'only a failure may come before the start')
  checkStart(first)
  const open = new Map<number, Open>()
  let next = 0
  for (const event of rest) {
    if (event.type === 'content_block_start') {
      assert.equal(event.index, next++, 'indexes have no gaps')
      checkBlock(event.content_block)
      open.set(event.index, { block: event.content_block, isSigned: false })
    } else if (event.type === 'content_block_delta') {
      checkDelta(open.get(event.index), event.delta)
    } else {
      assert.equal(event.type, 'content_block_stop', 'no event of another kind')
      assert.ok(open.delete(event.index), 'only an open block can be closed')
    }
  }
  if (how === 'complete') assert.equal(open.size, 0, 'every block is closed')
}

function checkStart({ type, message }: Event): void {
  assert.equal(type, 'message_start')
  assert.deepEqual(message.content, [])
  assert.equal(message.stop_reason, null)
  assert.ok(message.usage.input_tokens > 0)
  assert.equal(message.usage.output_tokens, 0)
}

function checkBlock(block: Block): void {
  assert.ok(block.type in deltasOf, `a known block, not ${block.type}`)
  if (block.type === 'text') assert.equal(block.text, '')
  if (block.type === 'thinking') assert.deepEqual([block.thinking, block.signature], ['', ''])
  if (block.type === 'tool_use') assert.ok(block.id && block.name && JSON.stringify(block.input) === '{}')
  if (block.type === 'redacted_thinking') assert.ok(block.data)
}

function checkDelta(open: Open | undefined, delta: Event['delta']): void {
  assert.ok(open, 'a delta needs an open block')
  assert.ok(deltasOf[open.block.type]?.includes(delta.type), `${delta.type} does not belong into ${open.block.type}`)
  assert.equal(open.isSigned, false, 'nothing follows a signature')
  if (delta.type === 'signature_delta') open.isSigned = true
}

function checkInputs(events: readonly Event[]): void {
  const inputs = events.filter((event) => event.delta?.type === 'input_json_delta')
  for (const parts of Map.groupBy(inputs, (event) => event.index).values()) {
    assert.equal(typeof JSON.parse(parts.map((event) => event.delta.partial_json).join('')), 'object')
  }
}

function checkEnding(event: Event | undefined): void {
  assert.equal(event?.type, 'message_delta')
  assert.equal(typeof event.delta.stop_reason, 'string')
  assert.equal(typeof event.usage.output_tokens, 'number')
  assert.equal(typeof event.estimated_credits_used, 'number')
}
