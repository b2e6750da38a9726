import type { InferenceRequest, Message, Part } from './request.ts'

const tokensPerImage = 1600
const tokensPerMessage = 4

/** A guess by length, cheap enough for every request: a tokenizer would cost more than the rest of the road. Errs high. */
export const estimateTokens = (text: string): number => Math.ceil(text.length / 3.5)

/** What the upstream will probably count as input: all messages, tools and schemas; images by a flat rule. */
export function estimateInputTokens(request: InferenceRequest): number {
  let tokens = 3
  for (const message of request.messages) tokens += messageTokens(message)
  for (const tool of request.tools) tokens += estimateTokens(JSON.stringify(tool))
  if (request.outputFormat?.type === 'json-schema')
    tokens += estimateTokens(JSON.stringify(request.outputFormat.schema))
  return tokens
}

function messageTokens(message: Message): number {
  return message.parts.reduce((sum, part) => sum + partTokens(part), tokensPerMessage)
}

function partTokens(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'thinking':
    case 'refusal':
      return estimateTokens(part.text)
    case 'image':
      return tokensPerImage
    case 'file':
      return part.source.kind === 'text' ? estimateTokens(part.source.text) : tokensPerImage
    case 'tool-call':
      return estimateTokens(part.name) + estimateTokens(part.input)
    case 'tool-result':
      return part.parts.reduce((sum, inner) => sum + partTokens(inner), tokensPerMessage)
    case 'opaque':
      return estimateTokens(JSON.stringify(part.raw))
  }
}
