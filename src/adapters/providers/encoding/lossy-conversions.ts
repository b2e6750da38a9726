import { Fault } from '../../../base/fault.ts'
import type { Dialect, InferenceRequest } from '../../../domain/inference/request.ts'
import { asRecord } from '../json-values.ts'

/** The request asks for what this upstream cannot do, and leaving it out would make the answer wrong. */
export const unsupported = (param: string, message: string): Fault =>
  new Fault('validation', 'unsupported_parameter', message, { param })

/** What the same thing is called by callers of each dialect. */
const names = {
  reasoning: { chat: 'reasoning_effort', responses: 'reasoning', messages: 'thinking' },
  outputFormat: { chat: 'response_format', responses: 'text.format', messages: 'output_config.format' },
} as const

export const callersName = ({ original }: InferenceRequest, what: keyof typeof names): string =>
  names[what][original.dialect]

/**
 * Fields of a dialect that no other dialect knows. `refuse` where the answer would be wrong without them, `drop` where
 * only quality or cost changes. What is not listed either has a place in our own language or is unknown to us.
 */
const losses: Readonly<Record<Dialect, Readonly<Record<string, 'drop' | 'refuse'>>>> = {
  chat: {
    n: 'refuse',
    logprobs: 'refuse',
    modalities: 'refuse',
    audio: 'refuse',
    web_search_options: 'refuse',
    seed: 'drop',
    frequency_penalty: 'drop',
    presence_penalty: 'drop',
    logit_bias: 'drop',
    prediction: 'drop',
    verbosity: 'drop',
    service_tier: 'drop',
    prompt_cache_key: 'drop',
    prompt_cache_retention: 'drop',
    prompt_cache_options: 'drop',
  },
  responses: {
    background: 'refuse',
    conversation: 'refuse',
    prompt: 'refuse',
    top_logprobs: 'refuse',
    truncation: 'drop',
    max_tool_calls: 'drop',
    context_management: 'drop',
    service_tier: 'drop',
    prompt_cache_key: 'drop',
    prompt_cache_retention: 'drop',
    prompt_cache_options: 'drop',
  },
  messages: {
    mcp_servers: 'refuse',
    container: 'refuse',
    inference_geo: 'refuse',
    thread: 'refuse',
    context_management: 'drop',
    service_tier: 'drop',
    speed: 'drop',
    fallbacks: 'drop',
    cache_control: 'drop',
  },
}

/** Goes through the caller's own body for what gets lost on the way to another dialect, less what is carried over. */
export function reportLossyConversions(
  { original }: InferenceRequest,
  carried: ReadonlySet<string>,
  onDropped: (what: string) => void,
): void {
  for (const [field, loss] of Object.entries(losses[original.dialect])) {
    if (carried.has(field) || isHarmless(field, original.body[field])) continue
    if (loss === 'drop') onDropped(field)
    else throw unsupported(field, `This model’s upstream does not support \`${field}\`.`)
  }
  if (asRecord(original.body['text'])?.['verbosity']) onDropped('text.verbosity')
}

const harmless: ReadonlySet<unknown> = new Set([undefined, null, false])

const usual: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  frequency_penalty: [0],
  presence_penalty: [0],
  top_logprobs: [0],
  truncation: ['disabled'],
  service_tier: ['auto', 'default'],
}

/** A value that asks for nothing special; so does an empty list, and `modalities: ["text"]`. */
const isHarmless = (field: string, value: unknown): boolean =>
  harmless.has(value) ||
  usual[field]?.includes(value) ||
  (Array.isArray(value) && value.every((item) => item === 'text'))
