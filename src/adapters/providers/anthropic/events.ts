import type { Citation, StopReason, Usage } from '../../../domain/inference/events.ts'
import type { EventWriter } from '../decoding/event-writer.ts'
import { upstreamFailed, faultOfErrorBody } from '../failures.ts'
import type { Decoder } from '../wire-format.ts'
import type { JsonRecord } from '../json-values.ts'
import { asCount, asRecord, asRecords, asText, numberOf, parseRecord } from '../json-values.ts'
import { countsOf, type ReportedUsage } from '../decoding/usage.ts'

const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ['end_turn', 'end'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context-full'],
  ['stop_sequence', 'stop-sequence'],
  ['tool_use', 'tool-call'],
  ['refusal', 'refusal'],
  ['pause_turn', 'pause'],
])

type Kind = 'text' | 'thinking' | 'tool-call'

/** A block of the upstream that is open: mapped to a block of the event format, or collected until it is complete. */
type OpenBlock = OpenText | { readonly kind: 'opaque'; readonly raw: JsonRecord; json: string }

type OpenText = { readonly kind: Kind; readonly block: number; signature: string }

type State = {
  readonly writer: EventWriter
  readonly blocks: Map<number, OpenBlock>
  start: { readonly id: string } | undefined
  /** True after the first block of the message. */
  hasContent: boolean
  usage: ReportedUsage
  stopReason: string
  stopSequence: string
}

/** Decodes a response in the Messages format. */
export function createMessagesDecoder(writer: EventWriter): Decoder {
  const state: State = {
    writer,
    blocks: new Map(),
    start: undefined,
    hasContent: false,
    usage: {},
    stopReason: '',
    stopSequence: '',
  }
  return {
    event(body, name) {
      const type = asText(body['type']) || (name ?? '')
      steps.get(type)?.(state, body)
      state.hasContent ||= type.startsWith('content_block')
    },
    document: (body) => readDocument(state, body),
    done() {},
    hasPendingBlock: () => state.blocks.values().some(({ kind }) => kind === 'opaque'),
  }
}

type Step = (state: State, event: JsonRecord) => void

const steps: ReadonlyMap<string, Step> = new Map([
  ['message_start', startMessage],
  ['content_block_start', (state, event) => openBlock(state, indexOf(event), asRecord(event['content_block']) ?? {})],
  ['content_block_delta', addDelta],
  ['content_block_stop', (state, event) => closeBlock(state, indexOf(event))],
  ['message_delta', readMessageDelta],
  ['message_stop', endMessage],
  ['error', fail],
])

function startMessage(state: State, event: JsonRecord): void {
  const message = asRecord(event['message'])
  state.usage = readMessagesUsage(state.usage, message?.['usage'])
  if (state.start !== undefined) return checkRepeatedStart(state, state.start, message)
  state.start = { id: asText(message?.['id']) }
  state.writer.start(asText(message?.['model']), usageAtStart(state.usage))
}

/** Some servers repeat the start before any content. Two responses in one stream would otherwise be merged into one. */
function checkRepeatedStart(state: State, { id }: NonNullable<State['start']>, message: JsonRecord | undefined): void {
  if (!state.hasContent && asText(message?.['id']) === id) return
  throw upstreamFailed('The model’s upstream started a second message in the same stream.')
}

function addDelta(state: State, event: JsonRecord): void {
  const delta = asRecord(event['delta'])
  if (delta !== undefined) deltas.get(asText(delta['type']))?.(state, indexOf(event), delta)
}

function readMessageDelta(state: State, event: JsonRecord): void {
  const delta = asRecord(event['delta'])
  state.stopReason = asText(delta?.['stop_reason']) || state.stopReason
  state.stopSequence = asText(delta?.['stop_sequence']) || state.stopSequence
  state.usage = readMessagesUsage(state.usage, event['usage'])
}

function endMessage(state: State): void {
  for (const index of state.blocks.keys()) closeBlock(state, index)
  const { writer, usage, stopReason, stopSequence } = state
  if (stopReason === '') throw upstreamFailed('The model’s upstream ended its response without a stop reason.')
  writer.end({ stopReason: stopReasons.get(stopReason) ?? 'end', stopSequence: stopSequence || undefined, usage })
}

function fail(_state: State, event: JsonRecord): never {
  throw faultOfErrorBody(event)
}

const indexOf = (event: JsonRecord): number => asCount(event['index']) ?? 0

type DeltaStep = (state: State, index: number, delta: JsonRecord) => void

const deltas: ReadonlyMap<string, DeltaStep> = new Map([
  ['text_delta', (state, index, delta) => addText(state, { index, kind: 'text', text: asText(delta['text']) })],
  [
    'thinking_delta',
    (state, index, delta) => addText(state, { index, kind: 'thinking', text: asText(delta['thinking']) }),
  ],
  ['input_json_delta', addInput],
  ['signature_delta', readSignature],
  ['citations_delta', (state, index, delta) => addCitation(state, index, asRecord(delta['citation']))],
])

function addInput(state: State, index: number, delta: JsonRecord): void {
  const json = asText(delta['partial_json'])
  const open = state.blocks.get(index)
  if (open?.kind === 'opaque') open.json += json
  else if (open?.kind === 'tool-call') state.writer.delta(open.block, json)
}

function readSignature(state: State, index: number, delta: JsonRecord): void {
  const open = state.blocks.get(index)
  if (open?.kind === 'thinking') open.signature = asText(delta['signature'])
}

/** Some servers omit the start of a block, or put thinking into a text block, so each kind gets its own block. */
function addText(
  state: State,
  { index, kind, text }: { index: number; kind: 'text' | 'thinking'; text: string },
): void {
  if (text === '') return
  const open = state.blocks.get(index)
  if (open?.kind === kind) return state.writer.delta(open.block, text)
  if (open !== undefined) closeBlock(state, index)
  state.writer.delta(openText(state, index, kind).block, text)
}

function openText(state: State, index: number, kind: 'text' | 'thinking'): OpenText {
  const open: OpenText = { kind, block: state.writer.open({ type: kind }), signature: '' }
  state.blocks.set(index, open)
  return open
}

/** A citation may come before the text of its block. Citations of documents have no URL and exist only in this format. */
function addCitation(state: State, index: number, raw: JsonRecord | undefined): void {
  const citation = raw === undefined ? undefined : citationOf(raw)
  if (citation === undefined) return
  const open = state.blocks.get(index) ?? openText(state, index, 'text')
  if (open.kind === 'text') state.writer.citation(open.block, citation)
}

/** The vendor cites for a whole text block, so a citation has no range. */
function citationOf(raw: JsonRecord): Citation | undefined {
  const url = asText(raw['type'] === 'search_result_location' ? raw['source'] : raw['url'])
  if (!/^https?:/i.test(url)) return undefined
  const passage = asText(raw['cited_text'])
  const proof = asText(raw['encrypted_index'])
  return { url, title: asText(raw['title']) || url, ...(passage && { passage }), ...(proof && { proof }) }
}

function openBlock(state: State, index: number, raw: JsonRecord): void {
  closeBlock(state, index)
  const { writer, blocks } = state
  switch (raw['type']) {
    case 'text':
      // A text block is opened with its first delta, because empty ones are dropped.
      addText(state, { index, kind: 'text', text: asText(raw['text']) })
      for (const citation of asRecords(raw['citations'])) addCitation(state, index, citation)
      return
    case 'thinking':
      blocks.set(index, {
        kind: 'thinking',
        block: writer.open({ type: 'thinking' }),
        signature: asText(raw['signature']),
      })
      return addText(state, { index, kind: 'thinking', text: asText(raw['thinking']) })
    case 'redacted_thinking':
      return writeRedacted(writer, asText(raw['data']))
    case 'tool_use': {
      const block = writer.openToolCall(asText(raw['id']), asText(raw['name']))
      blocks.set(index, { kind: 'tool-call', block, signature: '' })
      return writer.delta(block, wholeInput(raw))
    }
    default:
      blocks.set(index, { kind: 'opaque', raw, json: '' })
  }
}

function writeRedacted(writer: EventWriter, value: string): void {
  const block = writer.open({ type: 'thinking' })
  writer.signature(block, { format: 'messages', value, redacted: true })
  writer.close(block)
}

/** In a stream the input is an empty object, followed by deltas. In a whole response it is complete. */
function wholeInput(raw: JsonRecord): string {
  const input = asRecord(raw['input']) ?? {}
  return Object.keys(input).length > 0 ? JSON.stringify(input) : ''
}

function closeBlock(state: State, index: number): void {
  const open = state.blocks.get(index)
  if (open === undefined) return
  state.blocks.delete(index)
  const { writer } = state
  if (open.kind === 'opaque') {
    const raw = open.json === '' ? open.raw : { ...open.raw, input: parseRecord(open.json) ?? {} }
    writer.close(writer.open({ type: 'opaque', dialect: 'messages', raw }))
    return
  }
  if (open.signature !== '') writer.signature(open.block, { format: 'messages', value: open.signature })
  writer.close(open.block)
}

/** Decodes a whole response with the functions that decode a stream. */
function readDocument(state: State, body: JsonRecord): void {
  if (body['type'] === 'error') throw faultOfErrorBody(body)
  if (!Array.isArray(body['content'])) throw upstreamFailed('The model’s upstream sent a body that is not a message.')
  startMessage(state, { message: body })
  for (const [index, block] of asRecords(body['content']).entries()) {
    openBlock(state, index, block)
    closeBlock(state, index)
  }
  // A whole response may omit `stop_reason`. An explicit `null` still counts as incomplete.
  readMessageDelta(state, { delta: { stop_reason: 'end_turn', ...body }, usage: body['usage'] })
  endMessage(state)
}

/** Counts are running totals. A later report replaces only the counts that it contains. */
function readMessagesUsage(before: ReportedUsage, value: unknown): ReportedUsage {
  const usage = asRecord(value)
  if (usage === undefined) return before
  return {
    // Unlike in OpenAI's formats, `input_tokens` excludes the cached tokens.
    inputTokens: numberOf(usage['input_tokens']) ?? before.inputTokens,
    cacheReadTokens: numberOf(usage['cache_read_input_tokens']) ?? before.cacheReadTokens,
    cacheWriteTokens: numberOf(usage['cache_creation_input_tokens']) ?? before.cacheWriteTokens,
    outputTokens: numberOf(usage['output_tokens']) ?? before.outputTokens,
    reasoningTokens: thinkingTokens(usage) ?? before.reasoningTokens,
  }
}

const thinkingTokens = (usage: JsonRecord): number | undefined =>
  numberOf(asRecord(usage['output_tokens_details'])?.['thinking_tokens'])

/** The usage reported at the start of the response, or undefined if there is none. */
function usageAtStart(reported: ReportedUsage): Usage | undefined {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = countsOf(reported)
  if (inputTokens + cacheReadTokens + cacheWriteTokens === 0) return undefined
  return { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens: 0, reasoningTokens: 0, source: 'reported' }
}
