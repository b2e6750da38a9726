import { describeSuccess } from '../../support/inference-success.ts'
import { chatError } from '../../support/inference-status.ts'

/** The fields of the request that a response repeats. */
const echo = {
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  truncation: 'disabled',
  user: null,
}

const text = '[gatehouse-echo] You said: Hello'
const message = 'The connection to the model’s upstream failed.'
const code = 'upstream_error'

describeSuccess('responses', {
  whole: {
    object: 'response',
    status: 'completed',
    model: 'gatehouse-echo',
    output: [
      {
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      },
    ],
    error: null,
    incomplete_details: null,
    usage: {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 11,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 20,
    },
    remaining_credits: 10_000,
    estimated_credits_used: 0,
    estimated_cost_usd: 0,
    ...echo,
  },
  events: [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ],
  failure: [
    { type: 'error', code, message, param: null, ...chatError(message, { type: 'provider_error', code }) },
    {
      type: 'response.failed',
      response: {
        object: 'response',
        status: 'failed',
        model: 'm',
        output: [],
        error: { code, message },
        incomplete_details: null,
        usage: null,
        ...echo,
      },
    },
  ],
})
