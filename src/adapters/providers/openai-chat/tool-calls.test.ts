import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEventWriter, type EventWriter } from '../decoding/event-writer.ts'
import { createToolNames } from '../encoding/tool-names.ts'
import { requestBy } from '../../../../test/support/requests.ts'
import { createToolCallAssembler } from './tool-calls.ts'

const writerOf = (): EventWriter =>
  createEventWriter({
    request: requestBy('chat'),
    requestId: 'req_1',
    model: 'm',
    toolNames: createToolNames([]),
    stops: [],
    estimateTokens: (byteCount) => byteCount,
    wrapSignature: () => undefined,
  })

const first = (index: number, text = '') => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name: 'f', arguments: text },
})
const more = (index: number, text: string) => ({ index, function: { arguments: text } })

/** The opened and closed blocks in order. */
function blocksOf(...deltas: Record<string, unknown>[]): string[] {
  const writer = writerOf()
  const calls = createToolCallAssembler(writer)
  for (const delta of deltas) calls.add(delta)
  return writer
    .take()
    .flatMap((event) => ('block' in event && event.type !== 'delta' ? [`${event.type} ${event.block}`] : []))
}

describe('the tool calls of a chat completion', () => {
  it('end when their input is complete and another call continues', () => {
    const deltas = [first(0), more(0, '{"a":'), more(0, '"}"}'), first(1, '{}'), first(2)]
    assert.deepEqual(blocksOf(...deltas), ['open 0', 'close 0', 'open 1', 'close 1', 'open 2'])
  })

  it('stay open while their input is incomplete, and accept white space after their end', () => {
    const deltas = [first(0, '{"a":'), first(1, '{"b":'), more(0, '1}'), more(1, '2}'), more(0, ' \n')]
    assert.deepEqual(blocksOf(...deltas), ['open 0', 'open 1', 'close 0', 'close 1'])
  })

  it('fail if more input follows a complete one, because it would not be scanned', () => {
    assert.throws(() => blocksOf(first(0, '{}'), first(1), more(0, '{"b":2}')), /after its complete input/)
  })
})
