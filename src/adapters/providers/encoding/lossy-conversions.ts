import { Fault } from '../../../base/fault.ts'
import type { Dialect, InferenceRequest } from '../../../domain/inference/request.ts'
import { asRecord } from '../json-values.ts'

/** An error for a request field that this upstream does not support and that cannot be dropped without a wrong response. */
export const unsupported = (param: string, message: string): Fault =>
  new Fault('validation', 'unsupported_parameter', message, { param })

/** The name of the same setting in each dialect. */
const names = {
  reasoning: { chat: 'reasoning_effort', responses: 'reasoning', messages: 'thinking' },
  outputFormat: { chat: 'response_format', responses: 'text.format', messages: 'output_config.format' },
} as const

export const callersName = ({ raw }: InferenceRequest, setting: keyof typeof names): string =>
  names[setting][raw.dialect]

/**
 * Fields that exist in one dialect only. `reject`: without the field the response would be wrong. `drop`: without it only
 * quality or cost changes. Fields that are not listed are either part of `InferenceRequest` or unknown to the gateway.
 */
const lossyFields: Readonly<Record<Dialect, Readonly<Record<string, 'drop' | 'reject'>>>> = {
  chat: {
    n: 'reject',
    logprobs: 'reject',
    modalities: 'reject',
    audio: 'reject',
    web_search_options: 'reject',
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
    background: 'reject',
    conversation: 'reject',
    prompt: 'reject',
    top_logprobs: 'reject',
    truncation: 'drop',
    max_tool_calls: 'drop',
    context_management: 'drop',
    service_tier: 'drop',
    prompt_cache_key: 'drop',
    prompt_cache_retention: 'drop',
    prompt_cache_options: 'drop',
  },
  messages: {
    mcp_servers: 'reject',
    container: 'reject',
    inference_geo: 'reject',
    context_management: 'drop',
    service_tier: 'drop',
    speed: 'drop',
    fallbacks: 'drop',
    cache_control: 'drop',
  },
}

/**
 * Reports the fields of the caller's body that cannot be converted to another dialect, except those in `converted`.
 * Throws if the response would be wrong without one of them.
 */
export function reportLossyConversions(
  { raw }: InferenceRequest,
  converted: ReadonlySet<string>,
  onDropped: (field: string) => void,
): void {
  for (const [field, action] of Object.entries(lossyFields[raw.dialect])) {
    if (converted.has(field) || isDefault(field, raw.body[field])) continue
    if (action === 'drop') onDropped(field)
    else throw unsupported(field, `This model’s upstream does not support \`${field}\`.`)
  }
  if (asRecord(raw.body['text'])?.['verbosity']) onDropped('text.verbosity')
}

const absent: ReadonlySet<unknown> = new Set([undefined, null, false])

const defaults: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  frequency_penalty: [0],
  presence_penalty: [0],
  top_logprobs: [0],
  truncation: ['disabled'],
  service_tier: ['auto', 'default'],
}

/** True for a value that requests nothing special, including an empty list and `modalities: ["text"]`. */
const isDefault = (field: string, value: unknown): boolean =>
  absent.has(value) ||
  defaults[field]?.includes(value) ||
  (Array.isArray(value) && value.every((item) => item === 'text'))
