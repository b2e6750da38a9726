import {
  totalInputTokens,
  totalTokens,
  type Citation,
  type StopReason,
  type Usage,
} from '../../domain/inference/events.ts'
import { urlCitation, type CitedBlock } from '../inference/writing/url-citation.ts'

const finishWords: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  length: 'length',
  'context-full': 'length',
  'stop-sequence': 'stop',
  'tool-call': 'tool_calls',
  refusal: 'content_filter',
  filtered: 'content_filter',
  pause: 'stop',
}

/** The finish reason. A refusal in words is a normal stop; its text is in `refusal`. */
export function formatFinish(stopReason: StopReason, hasRefusal: boolean, usesFunctions = false): string {
  if (stopReason === 'tool-call' && usesFunctions) return 'function_call'
  return stopReason === 'refusal' && hasRefusal ? finishWords.end : finishWords[stopReason]
}

/** A citation in this dialect. Its indexes count from the start of the message's text. */
export const formatAnnotation = (citation: Citation, block: CitedBlock) => ({
  type: 'url_citation',
  url_citation: urlCitation(citation, block),
})

/** Token counts in this dialect, where cached tokens are part of the input tokens. */
export const formatChatUsage = (usage: Usage) => ({
  prompt_tokens: totalInputTokens(usage),
  completion_tokens: usage.outputTokens,
  total_tokens: totalTokens(usage),
  prompt_tokens_details: { cached_tokens: usage.cacheReadTokens, cache_write_tokens: usage.cacheWriteTokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
})
