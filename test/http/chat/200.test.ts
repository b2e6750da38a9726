import { describeSuccess } from '../../support/inference-success.ts'
import { chatError } from '../../support/inference-status.ts'

describeSuccess('chat', {
  whole: {
    object: 'chat.completion',
    model: 'gatehouse-echo',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: '[gatehouse-echo] You said: Hello', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 9,
      completion_tokens: 11,
      total_tokens: 20,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    remaining_credits: 10_000,
    estimated_credits_used: 0,
    estimated_cost_usd: 0,
  },
  events: ['message'], // this format has no event names
  failure: [
    chatError('The connection to the model’s upstream failed.', { type: 'provider_error', code: 'upstream_error' }),
    '[DONE]',
  ],
})
