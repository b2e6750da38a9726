import { isRecord } from '../../base/record.ts'
import type { BlockStart, Citation, InferenceEnd } from '../../domain/inference/events.ts'
import { effectiveStop } from '../../domain/inference/fold.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import { createAnswerWriter } from '../inference/writing/answer-writer.ts'
import { creditFields } from '../inference/writing/credit-fields.ts'
import { freeTextOf, freeTextTools } from '../inference/writing/free-text-tools.ts'
import type { AnswerContext, StreamWriter, WriteStep } from '../inference/writing/stream-writer.ts'
import { openaiErrorBody } from '../inference/openai-errors.ts'
import { vendorUsage } from '../inference/writing/vendor-usage.ts'
import { createChatPassthrough, type ChatPassthrough } from './passthrough.ts'
import { formatAnnotation, formatFinish, formatChatUsage } from './format.ts'

type State = {
  readonly context: AnswerContext
  /** The beginning of all chunks, up to and including `"choices":`. */
  readonly head: string
  readonly includesUsage: boolean
  readonly passthrough: ChatPassthrough
  readonly open: Map<number, OpenBlock>
  readonly freeText: ReadonlySet<string>
  nextToolIndex: number
  /** The length of the text so far, over all blocks. */
  textLength: number
  /** They are sent at once at the end, because clients do not join the lists of several chunks. */
  readonly annotations: unknown[]
  hasRole: boolean
  hasToolCall: boolean
  hasRefusal: boolean
}

type OpenBlock = {
  readonly part: BlockStart
  readonly toolIndex: number
  /** The input of a free-text tool is sent at once at the end, because it must be extracted from complete JSON. */
  readonly isFreeText: boolean
  /** The length of the text before this block. */
  readonly offset: number
  citations?: Citation[]
  json: string
  isEmpty: boolean
}

/** Writes one answer as chat completion chunks. */
export function createChatWriter(context: AnswerContext): StreamWriter {
  const { id, model, createdAtSeconds, request } = context
  const identity = JSON.stringify({ id, object: 'chat.completion.chunk', created: createdAtSeconds, model })
  const includesUsage = requestsUsage(request)
  const state: State = {
    context,
    head: `data: ${identity.slice(0, -1)},"choices":`,
    includesUsage,
    passthrough: createChatPassthrough({ id, model, createdAtSeconds }),
    open: new Map(),
    freeText: freeTextTools(request),
    nextToolIndex: 0,
    textLength: 0,
    annotations: [],
    hasRole: false,
    hasToolCall: false,
    hasRefusal: false,
  }
  return createAnswerWriter({
    dialect: 'chat',
    allowsInterleaving: true, // clients assemble calls by their index
    ignoresRaw: context.usesFunctions === true,
    format: (step) => format(state, step),
    pass: (frame) => state.passthrough.frame(frame),
    track: (step) => track(state, step),
    end: (end, isPassthrough) => ending(state, end, isPassthrough),
    fail: (fault) => `data: ${JSON.stringify(openaiErrorBody(fault, context.requestId))}\n\n${done}`,
  })
}

const done = 'data: [DONE]\n\n'

function requestsUsage({ raw }: InferenceRequest): boolean {
  const options = raw.body['stream_options']
  return isRecord(options) && options['include_usage'] === true
}

function trackOpen(state: State, block: number, part: BlockStart): void {
  const isCall = part.type === 'tool-call' || (part.type === 'opaque' && part.dialect === 'chat')
  const isFreeText = part.type === 'tool-call' && state.freeText.has(part.name)
  const toolIndex = isCall ? state.nextToolIndex++ : -1
  state.open.set(block, { part, toolIndex, isFreeText, offset: state.textLength, json: '', isEmpty: true })
  if (part.type === 'tool-call') state.hasToolCall = true
  if (part.type === 'refusal') state.hasRefusal = true
}

function track(state: State, step: WriteStep): void {
  if (step.type === 'start') state.hasRole = true
  if (step.type === 'open') trackOpen(state, step.block, step.part)
  if (step.type === 'delta') trackDelta(state, step.block, step.text)
}

function trackDelta(state: State, block: number, text: string): OpenBlock | undefined {
  const open = state.open.get(block)
  if (open === undefined) return undefined
  open.isEmpty = false
  if (open.part.type === 'text') state.textLength += text.length
  return open
}

function format(state: State, step: WriteStep): string {
  switch (step.type) {
    case 'start':
      state.hasRole = true
      return chunk(state, '{"role":"assistant","content":""}')
    case 'open':
      trackOpen(state, step.block, step.part)
      return openBlock(state, step.block, step.part)
    case 'delta':
      return step.text === '' ? '' : writeDelta(state, step.block, step.text)
    case 'citation':
      addCitation(state, step.block, step.citation)
      return ''
    case 'signature':
      return '' // this dialect has no field for signatures
    case 'close':
      return closeBlock(state, step.block)
  }
}

const chunk = (state: State, delta: string): string =>
  `${state.head}[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":null}]}\n\n`

function openBlock(state: State, block: number, part: BlockStart): string {
  const { toolIndex: index, isFreeText } = state.open.get(block) ?? {}
  if (isFreeText) return ''
  if (part.type === 'tool-call' && state.context.usesFunctions)
    return functionCall(state, index, { name: part.name, arguments: '' })
  if (part.type === 'tool-call') {
    const call = { index, id: part.id, type: 'function', function: { name: part.name, arguments: '' } }
    return chunk(state, JSON.stringify({ tool_calls: [call] }))
  }
  if (part.type !== 'opaque' || part.dialect !== 'chat' || !isRecord(part.raw)) return ''
  return chunk(state, JSON.stringify({ tool_calls: [{ index, ...part.raw }] }))
}

/** The older form has one call per answer, so further calls are left out. */
const functionCall = (state: State, index: number | undefined, call: object): string =>
  index === 0 ? chunk(state, JSON.stringify({ function_call: call })) : ''

/** Hot path: runs for every delta. */
function writeDelta(state: State, block: number, text: string): string {
  const open = trackDelta(state, block, text)
  if (open?.isFreeText) {
    open.json += text
    return ''
  }
  const json = JSON.stringify(text)
  switch (open?.part.type) {
    case 'text':
      return chunk(state, `{"content":${json}}`)
    case 'thinking':
      return chunk(state, `{"reasoning_content":${json}}`)
    case 'refusal':
      return chunk(state, `{"refusal":${json}}`)
    case 'tool-call':
      if (state.context.usesFunctions) return functionCall(state, open.toolIndex, { arguments: text })
      return chunk(state, `{"tool_calls":[{"index":${open.toolIndex},"function":{"arguments":${json}}}]}`)
    default:
      return ''
  }
}

function addCitation(state: State, block: number, citation: Citation): void {
  const open = state.open.get(block)
  if (open !== undefined) (open.citations ??= []).push(citation)
}

function addAnnotations(state: State, { offset }: OpenBlock, citations: readonly Citation[]): void {
  const cited = { offset, length: state.textLength - offset }
  for (const citation of citations) state.annotations.push(formatAnnotation(citation, cited))
}

/** A call without arguments gets `{}`, because clients parse the joined arguments. */
function closeBlock(state: State, block: number): string {
  const open = state.open.get(block)
  state.open.delete(block)
  if (open?.citations !== undefined) addAnnotations(state, open, open.citations)
  if (open?.part.type !== 'tool-call') return ''
  const { toolIndex: index, part, json } = open
  if (open.isFreeText) {
    const call = { index, id: part.id, type: 'custom', custom: { name: part.name, input: freeTextOf(json) } }
    return chunk(state, JSON.stringify({ tool_calls: [call] }))
  }
  if (open.isEmpty && state.context.usesFunctions) return functionCall(state, index, { arguments: '{}' })
  return open.isEmpty ? chunk(state, `{"tool_calls":[{"index":${index},"function":{"arguments":"{}"}}]}`) : ''
}

function ending(state: State, end: InferenceEnd, isPassthrough: boolean): string {
  const { annotations } = state
  const before = annotations.length === 0 ? '' : chunk(state, JSON.stringify({ annotations }))
  const reason = effectiveStop(end.stopReason, state.hasToolCall)
  const finish = formatFinish(reason, state.hasRefusal, state.context.usesFunctions)
  const own = state.passthrough.ending(finish, isPassthrough)
  const last = own.finish || `${state.head}[{"index":0,"delta":{},"logprobs":null,"finish_reason":"${finish}"}]}\n\n`
  if (!state.includesUsage) return before + withPolicy(last, end) + done
  const counts = vendorUsage(own.usage, formatChatUsage(end.usage), end.usage)
  const usage = { usage: counts, ...creditFields(end) }
  return `${before}${last}${state.head}[],${JSON.stringify(usage).slice(1)}\n\n${done}`
}

/** Without `include_usage` there is no usage chunk, so `policy` is added to the chunk with the finish reason. */
const withPolicy = (last: string, { policy }: InferenceEnd): string =>
  policy === undefined ? last : last.replace(/\}\n\n$/, () => `,"policy":${JSON.stringify(policy)}}\n\n`)
