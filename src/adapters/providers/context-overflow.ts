import type { JsonRecord } from './json-values.ts'
import { asCount, asText } from './json-values.ts'

/**
 * Rewords an upstream's "prompt too long" error in Anthropic's wording. Agents parse that sentence to decide that they must
 * compact the conversation, and by how much. Undefined if the error is about something else.
 */
export function describeOverflow(error: JsonRecord): string | undefined {
  const message = asText(error['message'])
  if (/prompt is too long|exceed context limit/i.test(message)) return message
  if (!isOverflow(error, message)) return undefined
  const { input, output, limit } = numbersOf(error, message)
  if (input === undefined || limit === undefined) return `prompt is too long: ${message}`
  if (output !== undefined && input <= limit) {
    return `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${limit}`
  }
  return `prompt is too long: ${input} tokens > ${limit} maximum`
}

const overflowCodes: ReadonlySet<string> = new Set(['context_length_exceeded', 'exceed_context_size_error'])

const isOverflow = (error: JsonRecord, message: string): boolean =>
  overflowCodes.has(asText(error['code'])) || overflowCodes.has(asText(error['type'])) || overflowPhrases.test(message)

const overflowPhrases = new RegExp(
  [
    'maximum context length',
    'available context size',
    'exceeds the context window',
    "model's context length",
    'max context length',
    'than the context length',
    'context length of only',
    'maximum prompt length',
    'maximum number of tokens allowed',
    'maximum allowed input length',
    '^input is too long for',
  ].join('|'),
  'i',
)

type Numbers = {
  readonly input?: number | undefined
  readonly output?: number | undefined
  readonly limit?: number | undefined
}

/** Extracts the numbers from the messages of OpenAI, vLLM, SGLang and others. llama.cpp also sends them as fields. */
function numbersOf(error: JsonRecord, message: string): Numbers {
  return {
    input: asCount(error['n_prompt_tokens']) ?? firstNumber(message, inputPhrases),
    output: firstNumber(message, outputPhrases),
    limit: asCount(error['n_ctx']) ?? firstNumber(message, limitPhrases),
  }
}

/** A pattern that starts with a number needs `\b`. Without it the engine retries at each digit of a long number. */
const inputPhrases = [
  /\b(\d+) in (?:the|your) (?:messages|prompt)/i,
  /messages resulted in (\d+) tokens/i,
  /(?:has|passed) (\d+) input tokens/i,
  /(?:prompt|request) contains (?:at least )?(\d+)/i,
  /\b(\d+) tokens from the input/i,
  /input length \(?(\d+)/i,
  /(?:request|input|input token count) \((\d+)/i,
  /requested (\d+) tokens/i,
  /keep the first (\d+) tokens/i,
]

const outputPhrases = [
  /\b(\d+) in the completion/i,
  /\b(\d+) (?:tokens )?for the completion/i,
  /requested (\d+) output tokens/i,
  /is too large: (\d+)/i,
]

const limitPhrases = [
  /context length (?:is |is only |of |of only |\()(\d+)/i,
  /with (\d+) maximum context length/i,
  /available context size \((\d+)/i,
  /maximum prompt length is (\d+)/i,
  /tokens allowed \((\d+)/i,
  /allowed input length of (\d+)/i,
]

function firstNumber(message: string, phrases: readonly RegExp[]): number | undefined {
  for (const phrase of phrases) {
    const match = phrase.exec(message)?.[1]
    if (match !== undefined) return Number(match)
  }
  return undefined
}
