import { efforts } from '../../../domain/inference/request.ts'

/** The differences between chat completions servers. */
export type ChatFlags = {
  /** False for servers that lose tool calls while streaming. The whole response is requested, and the caller still gets a stream. */
  readonly streams: boolean
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** System text after the first user message: kept there, moved to the beginning, or sent as a user message. */
  readonly laterSystem: 'keep' | 'hoist' | 'user'
  /** Accepts the role `developer`, the newer name of `system`. */
  readonly knowsDeveloper: boolean
  /** Accepts the model's earlier thinking as `reasoning_content`. */
  readonly takesReasoning: boolean
  readonly takesFiles: boolean
  readonly takesTopK: boolean
  /** The number of stop strings that it accepts. The gateway scans for the others. */
  readonly maxStops: number
  /** The reasoning efforts that it accepts. Another effort becomes the nearest of them, or is dropped. */
  readonly efforts: readonly string[]
}

/** OpenAI's own API. */
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
 * Ollama, vLLM, llama.cpp and similar servers. Many of their chat templates reject system text after the beginning, and some
 * reject an effort for a model without thinking, although agents request one for every model.
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
