/**
 * The only file that knows OpenTelemetry's conventions for generative AI. They are in development, so their version is
 * pinned and sent with the spans. To follow a later version, change this file and add a line to the changelog.
 */
import { totalInputTokens, type StopReason, type Usage } from '../../domain/inference/events.ts'
import type { OperationName } from '../../domain/inference/operations.ts'
import type { ContentPart, Message } from '../../domain/inference/request.ts'
import type { SpanAttributes } from './span.ts'

export const schemaUrl = 'https://opentelemetry.io/schemas/gen-ai/1.42.0'

const maxNameLength = 256

/** A call to a model. */
export type ModelCallFacts = {
  readonly operation: OperationName
  /** The upstream's own name for the model. */
  readonly model: string
  readonly upstream: UpstreamFacts | undefined
  readonly isStream: boolean
  readonly answeredModel?: string | undefined
  readonly stopReason?: StopReason | undefined
  readonly usage?: Usage | undefined
  /** The code of the fault of a call that failed. */
  readonly failure?: string | undefined
}

/** Where an upstream is, and whose API it implements. */
export type UpstreamFacts = { readonly provider: string; readonly address?: string; readonly port?: number }

export const modelCallName = (operation: OperationName, model: string): string => `${operation} ${model}`

export function modelCallAttributes(facts: ModelCallFacts): SpanAttributes {
  const { operation, model, upstream, isStream, answeredModel, stopReason, usage, failure } = facts
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': upstream?.provider,
    'gen_ai.request.model': model,
    'gen_ai.request.stream': isStream,
    'gen_ai.response.model': answeredModel?.slice(0, maxNameLength),
    'gen_ai.response.finish_reasons': stopReason && [finishReasons[stopReason]],
    ...(usage && usageAttributes(usage)),
    'server.address': upstream?.address,
    'server.port': upstream?.port,
    'error.type': failure,
  }
}

/** Seconds, as a double. */
export const firstChunkAttribute = 'gen_ai.response.time_to_first_chunk'

/** Input tokens include those of the cache, output tokens those of reasoning. */
const usageAttributes = (usage: Usage): SpanAttributes => ({
  'gen_ai.usage.input_tokens': totalInputTokens(usage),
  'gen_ai.usage.output_tokens': usage.outputTokens,
  'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
  'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
  'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
})

const finishReasons: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'context-full': 'length',
  'tool-call': 'tool_call',
  refusal: 'content_filter',
  filtered: 'content_filter',
  pause: 'pause',
}

export type AnswerContent = { readonly text: string; readonly stopReason: StopReason | undefined }

/** The texts of a call, without those of unknown messages. `redact` is applied to each of them. */
export function contentAttributes(
  messages: readonly Message[] | undefined,
  answer: AnswerContent,
  redact: (text: string) => string,
): SpanAttributes {
  const output = {
    role: 'assistant',
    parts: [{ type: 'text', content: redactedStart(answer.text, redact) }],
    finish_reason: answer.stopReason && finishReasons[answer.stopReason],
  }
  return {
    'gen_ai.input.messages': messages && JSON.stringify(withinBudget(messages, redact)),
    'gen_ai.output.messages': JSON.stringify([output]),
  }
}

/** Longer texts are cut off, and older messages are left out of a request that is longer. */
const maxContentLength = 64 * 1024
/** Personal data at the cut is recognised if it ends within this many characters after it. */
const cutMargin = 1024
/** About the length of the JSON of a part or message without its texts. */
const emptyLength = 32

const redactedStart = (text: string, redact: (text: string) => string, length = maxContentLength): string =>
  redact(text.slice(0, length + cutMargin).toWellFormed()).slice(0, length)

/** The last messages, because a chat repeats the others in each request. All of their texts share one budget. */
function withinBudget(messages: readonly Message[], redact: (text: string) => string): object[] {
  const kept: object[] = []
  let left = maxContentLength
  for (const { role, parts } of messages.toReversed()) {
    if (left <= 0) break
    left -= emptyLength
    kept.unshift({ role, parts: partsOf(parts) })
  }
  return kept

  function partsOf(parts: readonly ContentPart[]): object[] {
    const described: object[] = []
    for (const part of parts) {
      if (left <= 0) break
      const content = partOf(part)
      if (content !== undefined) described.push(content)
    }
    return described
  }

  /** Images, files and opaque blocks are left out. */
  function partOf(part: ContentPart): object | undefined {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return { type: 'text', content: short(part.text) }
      case 'thinking':
        return { type: 'reasoning', content: short(part.text) }
      case 'tool-call':
        return { type: 'tool_call', id: nameIn(part.id), name: nameIn(part.name), arguments: short(part.input) }
      case 'tool-result':
        return { type: 'tool_call_response', id: nameIn(part.id), response: partsOf(part.parts) }
      default:
        return undefined
    }
  }

  /** Personal data counts with its own length, because searching for it takes longer than its placeholder. */
  function short(text: string): string {
    const available = Math.max(0, left)
    const start = redactedStart(text, redact, available)
    left -= emptyLength + Math.max(Math.min(text.length, available), JSON.stringify(start).length)
    return start
  }

  function nameIn(text: string): string {
    const start = text.slice(0, maxNameLength)
    left -= emptyLength + start.length
    return start
  }
}
