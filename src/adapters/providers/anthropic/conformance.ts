import { isNonEmptyText } from '../json-values.ts'
import type { ConformanceCheck } from '../wire-format.ts'
import type { JsonRecord } from '../json-values.ts'
import { asCount, asList, asRecord, asText } from '../json-values.ts'

/** `open` maps the index of each open block to its type. */
type State = { hasStart: boolean; blockCount: number; readonly open: Map<unknown, string> }

/** SDKs of the Messages format require a start, blocks numbered from 0, and deltas that match the type of their block. */
export function createMessagesCheck(): ConformanceCheck {
  const state: State = { hasStart: false, blockCount: 0, open: new Map() }
  return {
    event: (event) => isNonEmptyText(event['type']) && (checks.get(event['type'])?.(state, event) ?? true),
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

function isStart(state: State, event: JsonRecord): boolean {
  // A repeated start is not passed on, so it need not be conformant.
  if (state.hasStart) return true
  state.hasStart = true
  const message = asRecord(event['message'])
  const usage = asRecord(message?.['usage'])
  const hasUsage = asCount(usage?.['input_tokens']) !== undefined && asCount(usage?.['output_tokens']) !== undefined
  return hasUsage && message?.['role'] === 'assistant' && Array.isArray(message['content'])
}

function isBlockStart(state: State, event: JsonRecord): boolean {
  const block = asRecord(event['content_block'])
  if (!state.hasStart || event['index'] !== state.blockCount++) return false
  state.open.set(event['index'], asText(block?.['type']))
  return isBlock(block) && isEmpty(block ?? {})
}

/** The start of a block must be empty, because agents read its content only from the deltas. */
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
      return isNonEmptyText(block['id']) && isNonEmptyText(block['name']) && asRecord(block['input']) !== undefined
    default:
      return isNonEmptyText(block?.['type'])
  }
}

const deltaTargets: ReadonlyMap<string, RegExp> = new Map([
  ['text_delta', /^text$/],
  ['thinking_delta', /^thinking$/],
  ['signature_delta', /^thinking$/],
  ['input_json_delta', /tool_use$/],
])

function isDelta(state: State, event: JsonRecord): boolean {
  const block = state.open.get(event['index'])
  const target = deltaTargets.get(asText(asRecord(event['delta'])?.['type']))
  return block !== undefined && target?.test(block) !== false
}
