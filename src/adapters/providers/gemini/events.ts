import type { StopReason } from '../../../domain/inference/events.ts'
import type { EventWriter } from '../decoding/event-writer.ts'
import type { ReportedUsage } from '../decoding/usage.ts'
import { upstreamFailed } from '../failures.ts'
import type { JsonRecord } from '../json-values.ts'
import { asCount, asRecord, asRecords, asText, isNonEmptyText, numberOf } from '../json-values.ts'
import type { Decoder } from '../wire-format.ts'
import { geminiFault } from './errors.ts'

/** The name of this format in reasoning signatures. */
export const formatName = 'gemini'

const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ['STOP', 'end'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'filtered'],
  ['RECITATION', 'filtered'],
  ['LANGUAGE', 'filtered'],
  ['BLOCKLIST', 'filtered'],
  ['PROHIBITED_CONTENT', 'filtered'],
  ['SPII', 'filtered'],
  ['IMAGE_SAFETY', 'filtered'],
  ['IMAGE_PROHIBITED_CONTENT', 'filtered'],
  ['IMAGE_RECITATION', 'filtered'],
])

type State = {
  readonly writer: EventWriter
  open: { readonly kind: 'text' | 'thinking'; readonly block: number } | undefined
  usage: ReportedUsage
  /** Empty until the upstream reports one. */
  finish: string
  finishMessage: string
  isPromptBlocked: boolean
}

/** Decodes a response of `generateContent`. A stream consists of such responses, each with the next parts. */
export function createGeminiDecoder(writer: EventWriter): Decoder {
  const state: State = {
    writer,
    open: undefined,
    usage: {},
    finish: '',
    finishMessage: '',
    isPromptBlocked: false,
  }
  return {
    event: (body) => readResponse(state, body),
    document(body) {
      readResponse(state, body)
      endAnswer(state)
    },
    // Some models report a finish reason with every event, so only the end of the stream ends the response.
    done: () => endAnswer(state),
  }
}

function readResponse(state: State, body: JsonRecord): void {
  if (asRecord(body['error']) !== undefined) throw geminiFault(body)
  if (isNonEmptyText(asRecord(body['promptFeedback'])?.['blockReason'])) state.isPromptBlocked = true
  state.usage = readUsage(state.usage, body['usageMetadata'])
  // The gateway requests one candidate.
  const [candidate] = asRecords(body['candidates'])
  if (candidate === undefined) return
  state.writer.start(asText(body['modelVersion']))
  for (const part of asRecords(asRecord(candidate['content'])?.['parts'])) readPart(state, part)
  const finish = asText(candidate['finishReason'])
  if (finish === '' || finish === 'FINISH_REASON_UNSPECIFIED') return
  state.finish = finish
  state.finishMessage = asText(candidate['finishMessage'])
}

function readPart(state: State, part: JsonRecord): void {
  const call = asRecord(part['functionCall'])
  const signature = asText(part['thoughtSignature'])
  if (part['thought'] === true) {
    addText(state, 'thinking', asText(part['text']))
    return sign(state, signature)
  }
  if (part['inlineData'] !== undefined || part['fileData'] !== undefined)
    throw upstreamFailed('The model’s upstream sent a file, which the formats of callers cannot contain.')
  if (call !== undefined) return readCall(state, call, signature)
  // The signature of a text belongs to the thoughts before it. Without visible thoughts it is not needed.
  if (state.open?.kind === 'thinking') sign(state, signature)
  addText(state, 'text', asText(part['text']))
}

/** The model needs the signature of a call in the next request, so it gets a thinking block of its own if there is none. */
function readCall(state: State, call: JsonRecord, signature: string): void {
  const { writer } = state
  if (signature !== '' && state.open?.kind !== 'thinking') openText(state, 'thinking')
  sign(state, signature)
  closeText(state)
  const block = writer.openToolCall(asText(call['id']), asText(call['name']))
  writer.delta(block, JSON.stringify(asRecord(call['args']) ?? {}))
  writer.close(block)
}

/** A signature ends the thoughts that it belongs to. */
function sign(state: State, value: string): void {
  if (value === '' || state.open?.kind !== 'thinking') return
  state.writer.signature(state.open.block, { format: formatName, value })
  closeText(state)
}

function addText(state: State, kind: 'text' | 'thinking', text: string): void {
  if (text === '') return
  if (state.open?.kind !== kind) openText(state, kind)
  if (state.open !== undefined) state.writer.delta(state.open.block, text)
}

function openText(state: State, kind: 'text' | 'thinking'): void {
  closeText(state)
  state.open = { kind, block: state.writer.open({ type: kind }) }
}

function closeText(state: State): void {
  if (state.open !== undefined) state.writer.close(state.open.block)
  state.open = undefined
}

function endAnswer(state: State): void {
  const { writer, finish, finishMessage, isPromptBlocked, usage } = state
  closeText(state)
  if (isPromptBlocked) return writer.end({ stopReason: 'filtered', usage })
  if (finish === '') throw upstreamFailed('The model’s upstream ended its response without a finish reason.')
  const stopReason = stopReasons.get(finish)
  if (stopReason === undefined)
    throw upstreamFailed(`The model’s upstream could not complete its response (${finish}).`, new Error(finishMessage))
  writer.end({ stopReason, usage })
}

/** The last report counts, because each one is a running total. Thoughts are output, cached tokens a part of the prompt. */
function readUsage(before: ReportedUsage, value: unknown): ReportedUsage {
  const usage = asRecord(value)
  if (usage === undefined) return before
  const prompt = numberOf(usage['promptTokenCount'])
  const cacheReadTokens = numberOf(usage['cachedContentTokenCount']) ?? 0
  const toolUse = numberOf(usage['toolUsePromptTokenCount']) ?? 0
  const uncached = prompt === undefined ? undefined : prompt - (asCount(cacheReadTokens) ?? 0)
  const reasoningTokens = numberOf(usage['thoughtsTokenCount'])
  return {
    // Numbers that do not add up must not become negative.
    inputTokens: uncached === undefined ? undefined : Math.max(Math.min(0, prompt ?? 0), uncached) + toolUse,
    cacheReadTokens,
    outputTokens: outputTokens(usage),
    reasoningTokens,
  }
}

/** A response without candidates, or one that has only thoughts so far, has no count of candidates. */
function outputTokens(usage: JsonRecord): number | undefined {
  const candidates = numberOf(usage['candidatesTokenCount'])
  const thoughts = numberOf(usage['thoughtsTokenCount'])
  if (candidates !== undefined || thoughts !== undefined) return (candidates ?? 0) + (thoughts ?? 0)
  return usage['totalTokenCount'] !== undefined && usage['totalTokenCount'] === usage['promptTokenCount']
    ? 0
    : undefined
}
