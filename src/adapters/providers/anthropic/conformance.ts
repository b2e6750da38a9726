import { isNamed, type ConformanceCheck } from '../decoding/conformance-check.ts'
import type { JsonRecord } from '../json-values.ts'
import { asCount, asList, asRecord, asText } from '../json-values.ts'

/** The type of each block that is open, by its index. */
type State = { hasStart: boolean; blockCount: number; readonly open: Map<unknown, string> }

/** What clients of the Messages format need: a start, blocks numbered from 0, and deltas that fit their block. */
export function createMessagesCheck(): ConformanceCheck {
  const state: State = { hasStart: false, blockCount: 0, open: new Map() }
  return {
    event: (event) => isNamed(event['type']) && (checks.get(event['type'])?.(state, event) ?? true),
    document: ({ role = 'assistant', content }) =>
      role === 'assistant' && asList(content).every((block) => isBlock(asRecord(block))),
  }
}

type Check = (state: State, event: JsonRecord) => boolean

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['message_start', isStart],
  ['content_block_start', isBlockStart],
  ['content_block_delta', isDelta],
  ['content_block_stop', (state, { index }) => state.open.delete(index)],
  ['message_delta', ({ hasStart }) => hasStart],
])

/** Further starts are kept from callers anyway. */
function isStart(state: State, event: JsonRecord): boolean {
  if (state.hasStart) return true
  state.hasStart = true
  const message = asRecord(event['message'])
  const usage = asRecord(message?.['usage'])
  const isCounted = asCount(usage?.['input_tokens']) !== undefined && asCount(usage?.['output_tokens']) !== undefined
  return isCounted && message?.['role'] === 'assistant' && Array.isArray(message['content'])
}

function isBlockStart(state: State, event: JsonRecord): boolean {
  const block = asRecord(event['content_block'])
  if (!state.hasStart || event['index'] !== state.blockCount++) return false
  state.open.set(event['index'], asText(block?.['type']))
  return isBlock(block) && isEmpty(block ?? {})
}

/** What a block holds comes after its start: agents do not read it there. */
const isEmpty = ({ type, text, thinking, signature, input }: JsonRecord): boolean =>
  [text, thinking, signature].every((value) => asText(value) === '') &&
  (!asText(type).endsWith('tool_use') || Object.keys(asRecord(input) ?? {}).length === 0)

function isBlock(block: JsonRecord | undefined): boolean {
  switch (block?.['type']) {
    case 'text':
      return typeof block['text'] === 'string'
    case 'thinking':
      return typeof block['thinking'] === 'string'
    case 'tool_use':
      return isNamed(block['id']) && isNamed(block['name']) && asRecord(block['input']) !== undefined
    default:
      return isNamed(block?.['type'])
  }
}

const homes: ReadonlyMap<string, RegExp> = new Map([
  ['text_delta', /^text$/],
  ['thinking_delta', /^thinking$/],
  ['signature_delta', /^thinking$/],
  ['input_json_delta', /tool_use$/],
])

function isDelta(state: State, event: JsonRecord): boolean {
  const block = state.open.get(event['index'])
  const home = homes.get(asText(asRecord(event['delta'])?.['type']))
  return block !== undefined && home?.test(block) !== false
}
