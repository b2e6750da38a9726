import type { Citation, InferenceEnd, StopReason, Usage } from '../../domain/inference/events.ts'

const stopWords: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  length: 'max_tokens',
  'context-full': 'model_context_window_exceeded',
  'stop-sequence': 'stop_sequence',
  'tool-call': 'tool_use',
  refusal: 'refusal',
  filtered: 'refusal',
  pause: 'pause_turn',
}

/** The stop reason in this dialect's fields. */
export function formatStop(stopReason: StopReason, end: InferenceEnd) {
  // Not every upstream reports which stop sequence matched; without it, `stop_sequence` as the reason would be wrong.
  const isNameless = stopReason === 'stop-sequence' && end.stopSequence === undefined
  const word = isNameless ? stopWords.end : stopWords[stopReason]
  return {
    stop_reason: word,
    stop_sequence: end.stopSequence ?? null,
    ...(word === 'refusal' && { stop_details: { type: 'refusal', category: null, explanation: null } }),
  }
}

/**
 * A citation in this dialect. `encrypted_index` is Anthropic's own proof. It is empty for a citation of another upstream, and
 * such a citation is removed when the caller sends it back.
 */
export const formatCitation = ({ url, title, passage = '', proof = '' }: Citation) => ({
  type: 'web_search_result_location',
  url,
  title,
  cited_text: passage,
  encrypted_index: proof,
})

/** Token counts in this dialect, where cached tokens are not part of the input tokens. */
export const formatMessagesUsage = (usage: Usage) => ({
  input_tokens: usage.inputTokens,
  cache_creation_input_tokens: usage.cacheWriteTokens,
  cache_read_input_tokens: usage.cacheReadTokens,
  output_tokens: usage.outputTokens,
  ...(usage.reasoningTokens > 0 && { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
})
