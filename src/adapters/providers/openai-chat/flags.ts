import { efforts } from '../../../domain/inference/request.ts'

/** How a chat completions server differs from the others. */
export type ChatFlags = {
  /** Some servers lose tool calls while they stream: they are asked for the whole answer, and the caller still gets a stream. */
  readonly streams: boolean
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** System text in the middle of the list: kept there, moved to the beginning, or said by the user. */
  readonly laterSystem: 'keep' | 'hoist' | 'user'
  /** Knows the newer name for who speaks in system text. */
  readonly knowsDeveloper: boolean
  /** Takes the model's earlier thinking back as `reasoning_content`. */
  readonly takesReasoning: boolean
  readonly takesFiles: boolean
  readonly takesTopK: boolean
  /** How many stop strings it takes; we look for the others ourselves. */
  readonly maxStops: number
  /** Efforts that it takes; another one becomes the nearest of them, or nothing. */
  readonly efforts: readonly string[]
}

/** OpenAI itself. */
export const openaiFlags: ChatFlags = {
  streams: true,
  maxTokensField: 'max_completion_tokens',
  laterSystem: 'keep',
  knowsDeveloper: true,
  takesReasoning: false,
  takesFiles: true,
  takesTopK: false,
  maxStops: 4,
  efforts,
}

/**
 * Ollama, vLLM, llama.cpp and their like. Many of their chat templates refuse system text after the beginning, and some
 * refuse an effort for a model that does not think, which agents ask for without knowing.
 */
export const openServerFlags: ChatFlags = {
  streams: true,
  maxTokensField: 'max_tokens',
  laterSystem: 'hoist',
  knowsDeveloper: false,
  takesReasoning: false,
  takesFiles: false,
  takesTopK: true,
  maxStops: Infinity,
  efforts: [],
}
