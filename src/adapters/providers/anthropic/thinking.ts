import type { InferenceRequest } from '../../../domain/inference/request.ts'
import type { ProviderCall } from '../../../domain/inference/provider.ts'
import type { MessagesMessage, OutputConfig, Thinking } from '../../../wire/anthropic.ts'
import { callersName } from '../encoding/lossy-conversions.ts'
import { thinksAdaptively } from '../encoding/model-capabilities.ts'
import { budgetOf, effortOf, wantsThinking } from '../encoding/reasoning.ts'

export type ThinkingFields = { readonly thinking?: Thinking; readonly effort?: string }

/** The thinking fields for this model. If thinking is not possible, it is reported to `onDropped`. */
export function encodeThinkingMode(call: ProviderCall, messages: readonly MessagesMessage[]): ThinkingFields {
  const { request, model } = call
  const { reasoning } = request
  if (!wantsThinking(reasoning)) return {}
  if (isForced(request) || interruptsThinking(messages)) {
    call.onDropped(callersName(request, 'reasoning'))
    return {}
  }
  if (thinksAdaptively(model)) {
    const effort = effortOf(reasoning)
    return { thinking: { type: 'adaptive' }, ...(effort && { effort: effort === 'minimal' ? 'low' : effort }) }
  }
  const budget = budgetOf(reasoning, call.maxOutputTokens)
  if (budget !== undefined) return { thinking: { type: 'enabled', budget_tokens: budget } }
  call.onDropped(callersName(request, 'reasoning'))
  return {}
}

/** The vendor rejects thinking together with a forced tool call. */
const isForced = ({ toolChoice }: InferenceRequest): boolean =>
  toolChoice?.type === 'required' || toolChoice?.type === 'tool'

/**
 * Within a tool loop the last assistant message must begin with the thinking that led to the call. A caller whose dialect
 * cannot carry signed thinking has lost it, so this turn runs without thinking.
 */
function interruptsThinking(messages: readonly MessagesMessage[]): boolean {
  const last = messages.findLast((message) => message.role === 'assistant')
  if (!last?.content.some((block) => block.type === 'tool_use')) return false
  return !last.content.some((block) => block.type === 'thinking' || block.type === 'redacted_thinking')
}

export const outputConfig = (
  effort: string | undefined,
  format: OutputConfig['format'],
): { output_config?: OutputConfig } =>
  effort === undefined && format === undefined
    ? {}
    : { output_config: { ...(effort && { effort }), ...(format && { format }) } }
