import {
  totalInputTokens,
  totalTokens,
  type InferenceEnd,
  type StopReason,
  type Usage,
} from '../../domain/inference/events.ts'
import { creditFields } from '../inference/writing/credit-fields.ts'
import type { AnswerContext } from '../inference/writing/stream-writer.ts'

const incompleteReasons: Partial<Record<StopReason, string>> = {
  length: 'max_output_tokens',
  'context-full': 'max_output_tokens',
  refusal: 'content_filter',
  filtered: 'content_filter',
}

/** The reason for an incomplete answer, or undefined. A refusal in words is a complete answer. */
export const incompleteReason = (stopReason: StopReason, hasRefusal: boolean): string | undefined =>
  stopReason === 'refusal' && hasRefusal ? undefined : incompleteReasons[stopReason]

/** Token counts in this dialect, where cached tokens are part of the input tokens. */
const formatUsage = (usage: Usage) => ({
  input_tokens: totalInputTokens(usage),
  input_tokens_details: { cached_tokens: usage.cacheReadTokens, cache_write_tokens: usage.cacheWriteTokens },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: totalTokens(usage),
})

/** A response in progress, without output. */
export const beginning = ({ id, model, createdAtSeconds }: AnswerContext) => ({
  id,
  object: 'response',
  created_at: createdAtSeconds,
  status: 'in_progress',
  model,
  output: [],
  error: null,
  incomplete_details: null,
  usage: null,
})

/** The response after its end, with its cost. */
export function ended(context: AnswerContext, end: InferenceEnd, outcome: ResponseOutcome) {
  const { output, reason } = outcome
  return {
    ...beginning(context),
    status: reason === undefined ? 'completed' : 'incomplete',
    output,
    incomplete_details: reason === undefined ? null : { reason },
    usage: formatUsage(end.usage),
    ...creditFields(end),
  }
}

export type ResponseOutcome = { readonly output: readonly unknown[]; readonly reason: string | undefined }

/** The request fields that a response repeats, with the dialect's defaults. */
export function echoOf({ request: { raw }, echo }: AnswerContext): Record<string, unknown> {
  const { body } = raw
  return {
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    metadata: body['metadata'] ?? {},
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    reasoning: body['reasoning'] ?? { effort: null, summary: null },
    store: false,
    temperature: body['temperature'] ?? null,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: body['top_p'] ?? null,
    truncation: body['truncation'] ?? 'disabled',
    user: body['user'] ?? null,
    ...echo,
  }
}
