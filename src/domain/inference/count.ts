import type { InferenceRequest, Message, ContentPart } from './request.ts'

/** The port to a tokenizer. Counts the tokens of all texts together. Jobs with different queue keys are served in turn. */
export type CountTexts = (texts: readonly string[], caller: CountCaller) => Promise<TextCount>

export type CountCaller = {
  /** Fair queueing key: the id of the caller's organization. */
  readonly queueKey: string
  readonly signal?: AbortSignal
}

/**
 * `whole`: every text was tokenized. `sample`: parts of the texts were tokenized. `length`: estimated from the byte length,
 * because the caller had too many jobs queued.
 */
export type TextCount = { readonly tokens: number; readonly method: 'whole' | 'sample' | 'length' }

/** The texts of a request that a tokenizer counts, and the tokens added by fixed rules. */
export type Countable = { readonly texts: readonly string[]; readonly extraTokens: number }

const tokensPerImage = 1600
const tokensPerMessage = 4
const tokensPerTool = 12
const tokensPerRequest = 3

/**
 * Counts everything: system text, tools with their schemas, tool calls and results, thinking. An image or a binary file adds
 * a fixed number of tokens.
 */
export function countableOf(request: InferenceRequest): Countable {
  const texts: string[] = []
  let extraTokens = tokensPerRequest
  const visit = (part: ContentPart): void => {
    if (part.type === 'tool-result') part.parts.forEach(visit)
    else if (isBinary(part)) extraTokens += tokensPerImage
    else texts.push(textOf(part))
  }
  const visitMessage = ({ parts }: Message): void => {
    extraTokens += tokensPerMessage
    parts.forEach(visit)
  }
  request.messages.forEach(visitMessage)
  for (const tool of request.tools) {
    extraTokens += tokensPerTool
    texts.push(
      tool.type === 'function'
        ? `${tool.name} ${tool.description ?? ''} ${JSON.stringify(tool.parameters)}`
        : JSON.stringify(tool.raw),
    )
  }
  if (request.outputFormat?.type === 'json-schema') texts.push(JSON.stringify(request.outputFormat.schema))
  return { texts, extraTokens }
}

const isBinary = (part: ContentPart): boolean =>
  part.type === 'image' || (part.type === 'file' && part.source.kind !== 'text')

function textOf(part: ContentPart): string {
  switch (part.type) {
    case 'text':
    case 'thinking':
    case 'refusal':
      return part.text
    case 'tool-call':
      return `${part.name} ${part.input}`
    case 'file':
      return part.source.kind === 'text' ? part.source.text : ''
    case 'opaque':
      return JSON.stringify(part.raw)
    case 'image':
    case 'tool-result':
      return ''
  }
}

/**
 * A cheap estimate from the byte length, used for every request because a tokenizer would cost more than the rest of the
 * pipeline. It errs high. It counts bytes, not characters, because a Chinese character is about one token and an English
 * letter about a quarter of one.
 */
export const estimateCountable = ({ texts, extraTokens }: Countable): number =>
  texts.reduce((sum, text) => sum + estimateTokens(text), extraTokens)

export const estimateInputTokens = (request: InferenceRequest): number => estimateCountable(countableOf(request))

export const estimateTokens = (text: string): number => estimateTokensOfBytes(Buffer.byteLength(text))

const bytesPerToken = 3.5

export const estimateTokensOfBytes = (byteCount: number): number => Math.ceil(byteCount / bytesPerToken)

/** The longest text that is estimated at this many tokens. */
export const bytesOfTokens = (tokens: number): number => Math.floor(tokens * bytesPerToken)
