import { Fault } from '../../../base/fault.ts'
import type { CallerFormat } from '../../../domain/inference/formats.ts'
import type { InferenceRequest } from '../../../domain/inference/request.ts'
import { asRecord, asRecords, type JsonRecord } from '../json-values.ts'

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
 * quality or cost changes. Fields that are neither listed here nor read by the gateway are dropped as well.
 */
const lossyFields: Readonly<Record<CallerFormat, Readonly<Record<string, 'drop' | 'reject'>>>> = {
  chat: {
    n: 'reject',
    logprobs: 'reject',
    modalities: 'reject',
    audio: 'reject',
    web_search_options: 'reject',
    guided_json: 'reject',
    guided_regex: 'reject',
    guided_choice: 'reject',
    guided_grammar: 'reject',
    structured_outputs: 'reject',
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
    include: 'drop',
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

/** The fields of each dialect that the gateway decodes, or acts on itself. */
const decodedFields: Readonly<Record<CallerFormat, ReadonlySet<string>>> = {
  chat: named(
    'model messages stream stream_options max_completion_tokens max_tokens temperature top_p top_k stop tools tool_choice',
    'functions function_call parallel_tool_calls reasoning_effort response_format user safety_identifier metadata',
    'flagged_categories',
  ),
  responses: named(
    'model input instructions stream stream_options max_output_tokens temperature top_p tools tool_choice',
    'parallel_tool_calls reasoning text previous_response_id store user safety_identifier metadata flagged_categories',
  ),
  messages: named(
    'model messages system stream max_tokens temperature top_p top_k stop_sequences tools tool_choice thinking',
    'output_config output_format metadata flagged_categories',
  ),
}

function named(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.split(' ')))
}

/** A body may have any number of unknown fields. The caller needs only some of their names. */
const maxUnknownFields = 20

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
  if (raw.dialect === 'messages' && citesDocuments(raw.body['messages'])) onDropped('citations')
  for (const field of unknownFields(raw)) if (!converted.has(field)) onDropped(field)
}

function unknownFields({ dialect, body }: InferenceRequest['raw']): readonly string[] {
  const isUnknown = (field: string): boolean =>
    !decodedFields[dialect].has(field) && !(field in lossyFields[dialect]) && !isDefault(field, body[field])
  return Object.keys(body).filter(isUnknown).slice(0, maxUnknownFields)
}

/** Whether a document or search result of the conversation asks for citations, which only Anthropic's API makes. */
function citesDocuments(messages: unknown): boolean {
  const isCited = (block: JsonRecord): boolean =>
    asRecord(block['citations'])?.['enabled'] === true || asRecords(block['content']).some(isCited)
  return asRecords(messages).some((message) => asRecords(message['content']).some(isCited))
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

/** Lists whose items ask for nothing special. The gateway returns signed reasoning in every dialect that can carry it. */
const defaultItems: Readonly<Record<string, string>> = { modalities: 'text', include: 'reasoning.encrypted_content' }

/** True for a value that requests nothing special, including an empty list. */
const isDefault = (field: string, value: unknown): boolean =>
  absent.has(value) ||
  defaults[field]?.includes(value) ||
  (Array.isArray(value) && value.every((item) => item === defaultItems[field]))
