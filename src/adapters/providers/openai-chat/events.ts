import type { StopReason } from '../../../domain/inference/events.ts'
import type { EventWriter } from '../decoding/event-writer.ts'
import { brokenAnswer, faultOfErrorBody } from '../failures.ts'
import type { Decoder } from '../http-provider.ts'
import type { JsonRecord } from '../json-values.ts'
import { asCount, asRecord, asRecords, asText } from '../json-values.ts'
import type { ReportedUsage } from '../decoding/usage.ts'
import type { ToolCalls } from './tool-calls.ts'
import { createToolCalls } from './tool-calls.ts'
import { readChatUsage } from './usage.ts'

const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ['stop', 'end'],
  ['length', 'length'],
  ['tool_calls', 'tool-call'],
  ['function_call', 'tool-call'],
  ['content_filter', 'filtered'],
])

/** Finishes that are failures: the answer is not what the model would have said. */
const failures: ReadonlySet<string> = new Set(['error', 'abort'])

/** Text comes in one kind at a time; a new kind closes the block of the one before. */
type TextKind = 'text' | 'thinking' | 'refusal'

type Choice = {
  readonly write: EventWriter
  readonly toolCalls: ToolCalls
  open: { readonly kind: TextKind; readonly block: number } | undefined
}

type State = {
  readonly write: EventWriter
  readonly choices: Map<number, Choice>
  usage: ReportedUsage
  finish: string
  stopSequence: string | undefined
}

/** The answer of a chat completions upstream in our words. */
export function createChatDecoder(write: EventWriter): Decoder {
  const state: State = { write, choices: new Map(), usage: {}, finish: '', stopSequence: undefined }
  return {
    event: (body) => readChunk(state, body, 'delta'),
    document(body) {
      if (!Array.isArray(body['choices']) && !isError(body))
        throw brokenAnswer('The model’s upstream sent something that is no completion.')
      // A whole answer is one chunk that says `message` for `delta`.
      readChunk(state, body, 'message')
      // It is whole by itself and need not say why it ends; `null` would say that it does not end here.
      if (asRecords(body['choices'])[0]?.['finish_reason'] === undefined && state.choices.size > 0)
        state.finish ||= 'stop'
      endAnswer(state)
    },
    // The usage follows the finish, so the end is not told before the stream is over.
    done: () => endAnswer(state),
  }
}

const isError = (body: JsonRecord): boolean => (body['error'] ?? undefined) !== undefined || body['object'] === 'error'

function readChunk(state: State, chunk: JsonRecord, key: 'delta' | 'message'): void {
  if (isError(chunk)) throw faultOfErrorBody(chunk)
  state.usage = readChatUsage(state.usage, chunk['usage'])
  for (const choice of asRecords(chunk['choices'])) {
    // Some servers report on the prompt before there is an answer.
    state.write.start(asText(chunk['model']))
    readChoice(state, choice, asRecord(choice[key]) ?? {})
  }
}

function readChoice(state: State, choice: JsonRecord, delta: JsonRecord): void {
  const reader = choiceOf(state, asCount(choice['index']) ?? 0)
  addText(reader, 'thinking', asText(delta['reasoning_content']) || asText(delta['reasoning']))
  addContent(reader, delta['content'])
  addText(reader, 'refusal', asText(delta['refusal']))
  // Servers send an empty list beside text: what counts is what is in it.
  for (const piece of asRecords(delta['tool_calls'])) {
    closeText(reader)
    reader.toolCalls.add(piece)
  }
  const finish = asText(choice['finish_reason'])
  if (failures.has(finish))
    throw brokenAnswer('The model’s upstream failed in the middle of its answer.', new Error(finish))
  state.finish = finish || state.finish
  // Only vLLM says which stop string it met.
  if (finish === 'stop' && typeof choice['stop_reason'] === 'string') state.stopSequence = choice['stop_reason']
}

function choiceOf({ write, choices }: State, index: number): Choice {
  const known = choices.get(index)
  if (known !== undefined) return known
  const choice: Choice = { write, toolCalls: createToolCalls(write), open: undefined }
  choices.set(index, choice)
  return choice
}

/** Usually text; a few servers send a list of parts, thinking among them. */
function addContent(choice: Choice, content: unknown): void {
  if (typeof content === 'string') return addText(choice, 'text', content)
  for (const part of asRecords(content)) {
    if (part['type'] === 'thinking') {
      for (const thought of asRecords(part['thinking'])) addText(choice, 'thinking', asText(thought['text']))
    } else {
      addText(choice, part['type'] === 'refusal' ? 'refusal' : 'text', asText(part['text'] ?? part['refusal']))
    }
  }
}

function addText(choice: Choice, kind: TextKind, text: string): void {
  if (text === '') return
  if (choice.open?.kind !== kind) {
    closeText(choice)
    choice.open = { kind, block: choice.write.open({ type: kind }) }
  }
  choice.write.delta(choice.open.block, text)
}

function closeText(choice: Choice): void {
  if (choice.open !== undefined) choice.write.close(choice.open.block)
  choice.open = undefined
}

function endAnswer({ write, choices, finish, stopSequence, usage }: State): void {
  if (finish === '') throw brokenAnswer('The model’s upstream ended its answer without saying why.')
  let hasRefusal = false
  for (const choice of choices.values()) {
    hasRefusal ||= choice.open?.kind === 'refusal'
    closeText(choice)
    choice.toolCalls.finish()
  }
  const said = stopReasons.get(finish) ?? 'end'
  const stopReason = stopSequence === undefined ? said : 'stop-sequence'
  write.end({ stopReason: hasRefusal && said === 'end' ? 'refusal' : stopReason, stopSequence, usage })
}
