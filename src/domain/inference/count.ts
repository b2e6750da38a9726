import type { InferenceRequest, Message, ContentPart } from './request.ts'

/** The port to a tokenizer: tokens of all these texts together. Callers take turns. */
export type CountTexts = (texts: readonly string[], asker: CountCaller) => Promise<TextCount>

export type CountCaller = {
  /** Who takes turns with others: the organization. */
  readonly caller: string
  readonly signal?: AbortSignal
}

/** `whole`: every text was tokenized; `sample`: parts of them; `length`: none, since the caller had too many waiting. */
export type TextCount = { readonly tokens: number; readonly method: 'whole' | 'sample' | 'length' }

/** What a request consists of for a counter: texts to count, and what is counted by rule. */
export type Countable = { readonly texts: readonly string[]; readonly extraTokens: number }

const tokensPerImage = 1600
const tokensPerMessage = 4
const tokensPerTool = 12
const tokensPerRequest = 3

/** Everything counts: system, tools and their schemas, calls and results, thinking. Images are never counted as text. */
export function countableOf(request: InferenceRequest): Countable {
  const texts: string[] = []
  let extraTokens = tokensPerRequest
  const visit = (part: ContentPart): void => {
    if (part.type === 'tool-result') part.parts.forEach(visit)
    else if (isPicture(part)) extraTokens += tokensPerImage
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

const isPicture = (part: ContentPart): boolean =>
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
 * The cheap guess by length for every request: a tokenizer would cost more than the rest of the road. Errs high, and in
 * bytes, since a Chinese character is about a token where an English letter is a quarter of one.
 */
export function estimateInputTokens(request: InferenceRequest): number {
  const { texts, extraTokens } = countableOf(request)
  return texts.reduce((sum, text) => sum + estimateTokens(text), extraTokens)
}

export const estimateTokens = (text: string): number => estimateTokensOfBytes(Buffer.byteLength(text))

export const estimateTokensOfBytes = (byteCount: number): number => Math.ceil(byteCount / 3.5)
