import type { Citation, StopReason } from '../../../domain/inference/events.ts'
import type { EventWriter } from '../decoding/event-writer.ts'
import { upstreamFailed, faultOfErrorBody } from '../failures.ts'
import type { Decoder } from '../wire-format.ts'
import type { JsonRecord } from '../json-values.ts'
import { asCount, asRecord, asRecords, asText, numberOf } from '../json-values.ts'
import type { ReportedUsage } from '../decoding/usage.ts'
import type { ToolCallAssembler } from './tool-calls.ts'
import { createToolCallAssembler } from './tool-calls.ts'
import { urlCitationOf } from '../decoding/url-citation.ts'

const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ['stop', 'end'],
  ['length', 'length'],
  ['tool_calls', 'tool-call'],
  ['function_call', 'tool-call'],
  ['content_filter', 'filtered'],
])

/** Finish reasons that mean a failure. */
const failureReasons: ReadonlySet<string> = new Set(['error', 'abort'])

/** Only one text block is open at a time. A delta of another kind closes it. */
type TextKind = 'text' | 'thinking' | 'refusal'

type Choice = {
  readonly writer: EventWriter
  /** Undefined before the first tool call. */
  toolCalls: ToolCallAssembler | undefined
  open: { readonly kind: TextKind; readonly block: number } | undefined
  textBlocks: number
  /** Citations that came before the text. */
  earlyCitations: readonly Citation[]
}

type State = {
  readonly writer: EventWriter
  readonly choices: Map<number, Choice>
  usage: ReportedUsage
  finish: string
  stopSequence: string | undefined
}

/** Decodes a response in the chat completions format. */
export function createChatDecoder(writer: EventWriter): Decoder {
  const state: State = { writer, choices: new Map(), usage: {}, finish: '', stopSequence: undefined }
  return {
    event: (body) => readChunk(state, body, 'delta'),
    document(body) {
      if (!Array.isArray(body['choices']) && !isError(body))
        throw upstreamFailed('The model’s upstream sent a body that is not a completion.')
      // A whole response is one chunk with `message` instead of `delta`.
      readChunk(state, body, 'message')
      // A whole response may omit `finish_reason`. An explicit `null` still counts as incomplete.
      if (asRecords(body['choices'])[0]?.['finish_reason'] === undefined && state.choices.size > 0)
        state.finish ||= 'stop'
      endAnswer(state)
    },
    // The usage follows the finish reason, so the end is emitted only when the stream is over.
    done: () => endAnswer(state),
  }
}

const isError = (body: JsonRecord): boolean => (body['error'] ?? undefined) !== undefined || body['object'] === 'error'

function readChunk(state: State, chunk: JsonRecord, key: 'delta' | 'message'): void {
  if (isError(chunk)) throw faultOfErrorBody(chunk)
  state.usage = readChatUsage(state.usage, chunk['usage'])
  for (const choice of asRecords(chunk['choices'])) {
    // Not before the first choice, because some servers first send chunks about the prompt.
    state.writer.start(asText(chunk['model']))
    readChoice(state, choice, asRecord(choice[key]) ?? {})
  }
}

function readChoice(state: State, choice: JsonRecord, delta: JsonRecord): void {
  const reader = choiceOf(state, asCount(choice['index']) ?? 0)
  addText(reader, 'thinking', asText(delta['reasoning_content']) || asText(delta['reasoning']))
  addContent(reader, delta['content'])
  if (delta['annotations'] !== undefined) addCitations(reader, delta['annotations'])
  addText(reader, 'refusal', asText(delta['refusal']))
  // Some servers send an empty list with every text delta. It must not close the text block.
  for (const call of asRecords(delta['tool_calls'])) {
    closeText(reader)
    reader.toolCalls ??= createToolCallAssembler(reader.writer)
    reader.toolCalls.add(call)
  }
  const finish = asText(choice['finish_reason'])
  if (failureReasons.has(finish))
    throw upstreamFailed('The model’s upstream failed during its response.', new Error(finish))
  state.finish = finish || state.finish
  // Only vLLM and SGLang report which stop string was generated. A number is the token that ended the answer.
  const stop = choice['stop_reason'] ?? choice['matched_stop']
  if (finish === 'stop' && typeof stop === 'string') state.stopSequence = stop
}

function choiceOf({ writer, choices }: State, index: number): Choice {
  const known = choices.get(index)
  if (known !== undefined) return known
  const choice: Choice = { writer, toolCalls: undefined, open: undefined, textBlocks: 0, earlyCitations: [] }
  choices.set(index, choice)
  return choice
}

/** Usually text. A few servers send a list of parts, which may include thinking. */
function addContent(choice: Choice, content: unknown): void {
  if (typeof content === 'string') return addText(choice, 'text', content)
  for (const part of asRecords(content)) {
    if (part['type'] === 'thinking') {
      for (const inner of asRecords(part['thinking'])) addText(choice, 'thinking', asText(inner['text']))
    } else {
      addText(choice, part['type'] === 'refusal' ? 'refusal' : 'text', asText(part['text'] ?? part['refusal']))
    }
  }
}

function addText(choice: Choice, kind: TextKind, text: string): void {
  if (text === '') return
  if (choice.open?.kind !== kind) {
    closeText(choice)
    choice.toolCalls?.interrupt()
    choice.open = { kind, block: choice.writer.open({ type: kind }) }
    if (kind === 'text') choice.textBlocks += 1
  }
  choice.writer.delta(choice.open.block, text)
  if (kind === 'text' && choice.earlyCitations.length > 0) writeCitations(choice, choice.earlyCitations)
}

/** Citations belong to the whole content, and usually follow it. */
function addCitations(choice: Choice, annotations: unknown): void {
  const citations = asRecords(annotations).flatMap((annotation) => urlCitationOf(annotation, 'url_citation') ?? [])
  if (choice.open?.kind === 'text') writeCitations(choice, citations)
  else if (choice.textBlocks === 0) choice.earlyCitations = [...choice.earlyCitations, ...citations]
}

function writeCitations(choice: Choice, citations: readonly Citation[]): void {
  choice.earlyCitations = []
  for (const { range, ...citation } of citations) {
    // A range counts from the start of the content, so it fits the first text block only.
    const isFirst = range !== undefined && choice.textBlocks === 1
    choice.writer.citation(choice.open?.block ?? -1, isFirst ? { ...citation, range } : citation)
  }
}

function closeText(choice: Choice): void {
  if (choice.open !== undefined) choice.writer.close(choice.open.block)
  choice.open = undefined
}

function endAnswer({ writer, choices, finish, stopSequence, usage }: State): void {
  if (finish === '') throw upstreamFailed('The model’s upstream ended its response without a finish reason.')
  let hasRefusal = false
  for (const choice of choices.values()) {
    hasRefusal ||= choice.open?.kind === 'refusal'
    closeText(choice)
    choice.toolCalls?.finish()
  }
  const reported = stopReasons.get(finish) ?? 'end'
  const stopReason = stopSequence === undefined ? reported : 'stop-sequence'
  writer.end({ stopReason: hasRefusal && reported === 'end' ? 'refusal' : stopReason, stopSequence, usage })
}

/** The last report counts. Servers that report with each chunk send running totals. */
function readChatUsage(before: ReportedUsage, value: unknown): ReportedUsage {
  const usage = asRecord(value)
  if (usage === undefined) return before
  const input = asRecord(usage['prompt_tokens_details'])
  const output = asRecord(usage['completion_tokens_details'])
  const total = numberOf(usage['prompt_tokens'])
  const cacheReadTokens = numberOf(input?.['cached_tokens']) ?? numberOf(usage['prompt_cache_hit_tokens']) ?? 0
  const cacheWriteTokens = numberOf(input?.['cache_write_tokens']) ?? 0
  const cached = (asCount(cacheReadTokens) ?? 0) + (asCount(cacheWriteTokens) ?? 0)
  return {
    // The total includes the cached tokens. Some servers' numbers do not add up.
    inputTokens: total === undefined ? undefined : Math.max(Math.min(0, total), total - cached),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: numberOf(usage['completion_tokens']),
    reasoningTokens: numberOf(output?.['reasoning_tokens']),
  }
}
