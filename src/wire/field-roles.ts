type RawObject = Readonly<Record<string, unknown>>

const identifying: ReadonlySet<string> = new Set(['user', 'safety_identifier', 'metadata', 'prompt_cache_key'])

const recorded: ReadonlySet<string> = new Set(['model', 'stream', 'messages', 'system', 'input', 'instructions'])

const settings: ReadonlySet<string> = new Set([
  'model',
  'stream_options',
  'tool_choice',
  'stop',
  'stop_sequences',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'output_config',
  'output_format',
  'response_format',
  'text',
  'modalities',
  'service_tier',
  'include',
  'truncation',
  'verbosity',
  'context_management',
  'container',
  'mcp_servers',
  'prompt_cache_retention',
  'previous_response_id',
])

const structural: ReadonlySet<string> = new Set([
  'type',
  'role',
  'id',
  'call_id',
  'tool_use_id',
  'tool_call_id',
  'item_id',
  'file_id',
  'name',
  'model',
  'media_type',
  'format',
  'url',
  'status',
  'phase',
  'detail',
  'cache_control',
])

/** Fields that a redaction must not change: the structure of a request, its user and its tools. */
const unchanged: ReadonlySet<string> = new Set([
  ...structural,
  ...identifying,
  'tools',
  'tool_choice',
  'stop',
  'response_format',
  'output_config',
  'text',
])

/**
 * What the fields of the three request formats (Messages, Chat Completions, Responses) hold. One table serves all of them,
 * because no name means different things in two formats.
 */
export const vendorFieldRoles = {
  identifying,
  recorded,
  settings,
  unchanged,
  structural,
  schemas: new Set(['schema', 'json_schema']) as ReadonlySet<string>,
  addresses: new Set(['url', 'file_url', 'image_url']) as ReadonlySet<string>,
  /** The `name` next to a `role` is free text that identifies a participant of the chat. */
  isLabel: (name: string, object: RawObject): boolean =>
    name.endsWith('_id') || (structural.has(name) && !(name === 'name' && 'role' in object)),
  isFile: (name: string, { type }: RawObject): boolean =>
    name === 'file_data' || (name === 'data' && type === 'base64'),
  isJson: (name: string): boolean => name === 'arguments',
  isToolInput: (name: string, { type }: RawObject): boolean => name === 'input' && type === 'tool_use',
  isSigned: ({ type }: RawObject): boolean => type === 'thinking' || type === 'redacted_thinking',
}
