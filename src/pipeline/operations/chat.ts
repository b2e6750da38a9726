import { changeTexts } from '../../domain/evaluation/texts/change-texts.ts'
import { scannedTextsOf } from '../../domain/evaluation/texts/request-texts.ts'
import type { Model } from '../../domain/inference/catalogue.ts'
import { countableOf } from '../../domain/inference/count.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import { thinkingBudget } from '../../domain/inference/thinking-budget.ts'
import type { Operation } from '../operation.ts'

/** A response to messages, in any caller's format. */
export const chatOperation: Operation<InferenceRequest> = {
  name: 'chat',
  countableOf,
  outputLimitOf(request, model) {
    const { maxOutputTokens: requested } = request
    const tokens = requested ?? defaultOutputTokens(request, model)
    return {
      tokens: model.capsOutput ? Math.min(tokens, model.maxOutputTokens) : tokens,
      isExplicit: requested !== undefined || model.capsOutput,
    }
  },
  textsOf: scannedTextsOf,
  changeTexts,
  messagesOf: ({ messages }) => messages,
  start: (provider, call) => provider.infer(call),
}

/** Reasoning would use up a default that is meant for the answer, so it comes on top, unless the operator set the limit. */
function defaultOutputTokens({ reasoning }: InferenceRequest, { maxOutputTokens, capsOutput }: Model): number {
  return reasoning === undefined || capsOutput ? maxOutputTokens : maxOutputTokens + thinkingBudget(reasoning)
}
