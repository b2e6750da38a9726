import type { StopReason } from '../../../domain/inference/events.ts'
import type { EventWriter } from '../decoding/event-writer.ts'
import { brokenAnswer, faultOfErrorBody } from '../failures.ts'
import type { Decoder } from '../http-provider.ts'
import type { JsonRecord } from '../json-values.ts'
import { asCount, parseRecord, asRecord, asRecords, asText } from '../json-values.ts'
import type { ReportedUsage } from '../decoding/usage.ts'
import { readMessagesUsage, usageAtStart } from './usage.ts'

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

/** One of theirs while it is open: ours beside it, or, for what only they understand, all of it so far. */
type OpenBlock =
  | { readonly kind: Kind; readonly block: number; signature: string }
  | { readonly kind: 'opaque'; readonly raw: JsonRecord; json: string }

type State = {
  readonly write: EventWriter
  readonly blocks: Map<number, OpenBlock>
  usage: ReportedUsage
  stopReason: string
  stopSequence: string
}

/** The answer of a Messages upstream in our words. */
export function createMessagesDecoder(write: EventWriter): Decoder {
  const state: State = { write, blocks: new Map(), usage: {}, stopReason: '', stopSequence: '' }
  return {
    event: (body, name) => steps.get(asText(body['type']) || (name ?? ''))?.(state, body),
    document: (body) => readDocument(state, body),
    done() {},
    isCollecting: () => state.blocks.values().some(({ kind }) => kind === 'opaque'),
  }
}

type Step = (state: State, event: JsonRecord) => void

const steps: ReadonlyMap<string, Step> = new Map([
  ['message_start', startMessage],
  ['content_block_start', (state, event) => openBlock(state, indexOf(event), asRecord(event['content_block']) ?? {})],
  ['content_block_delta', addDelta],
  ['content_block_stop', (state, event) => closeBlock(state, indexOf(event))],
  ['message_delta', noteEnding],
  ['message_stop', endMessage],
  ['error', fail],
])

function startMessage(state: State, event: JsonRecord): void {
  const message = asRecord(event['message'])
  state.usage = readMessagesUsage(state.usage, message?.['usage'])
  state.write.start(asText(message?.['model']), usageAtStart(state.usage))
}

function addDelta(state: State, event: JsonRecord): void {
  const delta = asRecord(event['delta'])
  if (delta !== undefined) deltas.get(asText(delta['type']))?.(state, indexOf(event), delta)
}

function noteEnding(state: State, event: JsonRecord): void {
  const delta = asRecord(event['delta'])
  state.stopReason = asText(delta?.['stop_reason']) || state.stopReason
  state.stopSequence = asText(delta?.['stop_sequence']) || state.stopSequence
  state.usage = readMessagesUsage(state.usage, event['usage'])
}

function endMessage(state: State): void {
  for (const index of state.blocks.keys()) closeBlock(state, index)
  const { write, usage, stopReason, stopSequence } = state
  if (stopReason === '') throw brokenAnswer('The model’s upstream ended its answer without saying why.')
  write.end({ stopReason: stopReasons.get(stopReason) ?? 'end', stopSequence: stopSequence || undefined, usage })
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
  ['signature_delta', noteSignature],
])

function addInput(state: State, index: number, delta: JsonRecord): void {
  const json = asText(delta['partial_json'])
  const open = state.blocks.get(index)
  if (open?.kind === 'opaque') open.json += json
  else if (open?.kind === 'tool-call') state.write.delta(open.block, json)
}

function noteSignature(state: State, index: number, delta: JsonRecord): void {
  const open = state.blocks.get(index)
  if (open?.kind === 'thinking') open.signature = asText(delta['signature'])
}

/** Some servers leave out the start of a block, or put thinking into a text block: each kind gets a block of its own. */
function addText(
  state: State,
  { index, kind, text }: { index: number; kind: 'text' | 'thinking'; text: string },
): void {
  if (text === '') return
  const open = state.blocks.get(index)
  if (open?.kind === kind) return state.write.delta(open.block, text)
  if (open !== undefined) closeBlock(state, index)
  const block = state.write.open({ type: kind })
  state.blocks.set(index, { kind, block, signature: '' })
  state.write.delta(block, text)
}

function openBlock(state: State, index: number, raw: JsonRecord): void {
  closeBlock(state, index)
  const { write, blocks } = state
  switch (raw['type']) {
    case 'text':
      // Opened with its first character: an empty text is none.
      return addText(state, { index, kind: 'text', text: asText(raw['text']) })
    case 'thinking':
      blocks.set(index, {
        kind: 'thinking',
        block: write.open({ type: 'thinking' }),
        signature: asText(raw['signature']),
      })
      return addText(state, { index, kind: 'thinking', text: asText(raw['thinking']) })
    case 'redacted_thinking':
      return writeRedacted(write, asText(raw['data']))
    case 'tool_use': {
      const block = write.openToolCall(asText(raw['id']), asText(raw['name']))
      blocks.set(index, { kind: 'tool-call', block, signature: '' })
      return write.delta(block, wholeInput(raw))
    }
    default:
      blocks.set(index, { kind: 'opaque', raw, json: '' })
  }
}

function writeRedacted(write: EventWriter, value: string): void {
  const block = write.open({ type: 'thinking' })
  write.proof(block, { dialect: 'messages', value, redacted: true })
  write.close(block)
}

/** A stream starts with an empty object and sends the input in pieces; whole answers have all of it here. */
function wholeInput(raw: JsonRecord): string {
  const input = asRecord(raw['input']) ?? {}
  return Object.keys(input).length > 0 ? JSON.stringify(input) : ''
}

function closeBlock(state: State, index: number): void {
  const open = state.blocks.get(index)
  if (open === undefined) return
  state.blocks.delete(index)
  const { write } = state
  if (open.kind === 'opaque') {
    const raw = open.json === '' ? open.raw : { ...open.raw, input: parseRecord(open.json) ?? {} }
    write.close(write.open({ type: 'opaque', dialect: 'messages', raw }))
    return
  }
  if (open.signature !== '') write.proof(open.block, { dialect: 'messages', value: open.signature })
  write.close(open.block)
}

/** A whole answer is told as the stream it could have been. */
function readDocument(state: State, body: JsonRecord): void {
  if (body['type'] === 'error') throw faultOfErrorBody(body)
  if (!Array.isArray(body['content'])) throw brokenAnswer('The model’s upstream sent something that is no message.')
  startMessage(state, { message: body })
  for (const [index, block] of asRecords(body['content']).entries()) {
    openBlock(state, index, block)
    closeBlock(state, index)
  }
  // It is whole by itself and need not say why it ends; `null` would say that it does not end here.
  noteEnding(state, { delta: { stop_reason: 'end_turn', ...body }, usage: body['usage'] })
  endMessage(state)
}
