import { efforts } from '../../../domain/inference/request.ts'

/** The differences between chat completions servers that change a request. */
export type ChatFlags = {
  /** False for servers that lose tool calls while streaming. The whole response is requested, and the caller still gets a stream. */
  readonly streams: boolean
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** Accepts `null` as the content of a message that has only tool calls. Other servers get an empty string. */
  readonly takesNullContent: boolean
  /** Accepts text as a list of parts. Other servers get one string. Images are always sent as parts. */
  readonly takesTextParts: boolean
  /** System text after the first user message: kept there, or moved to the beginning. */
  readonly laterSystem: 'keep' | 'hoist'
  /** Accepts the role `developer`, the newer name of `system`. */
  readonly knowsDeveloper: boolean
  /** Gets the model's earlier reasoning, which some models need between tool calls. */
  readonly takesReasoning: boolean
  /** The field of an assistant message that the server reads earlier reasoning from. */
  readonly reasoningField: 'reasoning_content' | 'reasoning'
  readonly takesFiles: boolean
  readonly takesTopK: boolean
  /** The number of stop strings that it accepts. The gateway scans for the others. */
  readonly maxStops: number
  /** The reasoning efforts that it accepts. Another effort becomes the nearest of them, or is dropped. */
  readonly efforts: readonly string[]
  /** False for servers that reject or ignore a tool choice that names a tool. They get only that tool, and `required`. */
  readonly takesNamedChoice: boolean
  /** False for servers that ignore `tool_choice`. A choice of `none` then means that no tools are sent. */
  readonly takesChoice: boolean
  /** The `type` of a response format with a schema. `json_object` servers read the schema from the format itself. */
  readonly schemaFormat: 'json_schema' | 'json_object'
  /** The `type` of a response format for any JSON object. `json_schema` servers get a schema that every object matches. */
  readonly objectFormat: 'json_object' | 'json_schema'
}

/** OpenAI's own API. */
const openaiFlags: ChatFlags = {
  streams: true,
  maxTokensField: 'max_completion_tokens',
  takesNullContent: true,
  takesTextParts: true,
  laterSystem: 'keep',
  knowsDeveloper: true,
  takesReasoning: false,
  reasoningField: 'reasoning_content',
  takesFiles: true,
  takesTopK: false,
  maxStops: 4,
  efforts,
  takesNamedChoice: true,
  takesChoice: true,
  schemaFormat: 'json_schema',
  objectFormat: 'json_object',
}

/**
 * The form that every open-source server accepts. Many chat templates reject system text after the beginning, and some
 * servers reject an effort for a model without thinking, although agents request one for every model.
 */
const openServerFlags: ChatFlags = {
  ...openaiFlags,
  maxTokensField: 'max_tokens',
  takesNullContent: false,
  takesTextParts: false,
  laterSystem: 'hoist',
  knowsDeveloper: false,
  takesFiles: false,
  takesTopK: true,
  maxStops: Infinity,
  efforts: [],
  takesNamedChoice: false,
}

type ChatServerEntry = {
  /** Where the server listens unless it is configured otherwise. Undefined if there is no such address. */
  readonly baseUrl?: string
  readonly flags: ChatFlags
  /** The efforts that it accepts if the operator sets `takes_effort`, because its models support them. */
  readonly optionalEfforts?: readonly string[]
}

/** The servers that `upstreams[].server` names. `docs/guide/your-own-model.md` lists what differs for users. */
const chatServers = {
  openai: { baseUrl: 'https://api.openai.com/v1', flags: openaiFlags },
  // `reasoning_effort` becomes a variable of the chat template, so templates that do not know it ignore it.
  'llama.cpp': {
    baseUrl: 'http://127.0.0.1:8080/v1',
    flags: { ...openServerFlags, efforts: ['none', 'low', 'medium', 'high'] },
  },
  'llama-cpp-python': {
    baseUrl: 'http://127.0.0.1:8000/v1',
    flags: { ...openServerFlags, takesNamedChoice: true, schemaFormat: 'json_object' },
  },
  // It answers 400 to an effort if the model has no thinking, so an effort is sent only on request.
  ollama: {
    baseUrl: 'http://127.0.0.1:11434/v1',
    flags: { ...openServerFlags, takesChoice: false, reasoningField: 'reasoning' },
    optionalEfforts: ['none', 'low', 'medium', 'high'],
  },
  vllm: {
    baseUrl: 'http://127.0.0.1:8000/v1',
    flags: { ...openServerFlags, reasoningField: 'reasoning', efforts, takesNamedChoice: true },
  },
  'lm-studio': {
    baseUrl: 'http://127.0.0.1:1234/v1',
    flags: { ...openServerFlags, objectFormat: 'json_schema' },
    optionalEfforts: ['low', 'medium', 'high'],
  },
  sglang: {
    baseUrl: 'http://127.0.0.1:30000/v1',
    flags: { ...openServerFlags, efforts, takesNamedChoice: true },
  },
} as const satisfies Readonly<Record<string, ChatServerEntry>>

export type ChatServer = keyof typeof chatServers

/** Settings of the operator that override what is known about the server. */
export type ChatOverrides = {
  readonly streams?: boolean | undefined
  readonly takesEffort?: boolean | undefined
  readonly takesReasoning?: boolean | undefined
}

/** The address of a server that the operator named without its address. */
export const addressOf = (server: ChatServer): string => chatServers[server].baseUrl

/** The flags of a server. If it is not named, a server at OpenAI's or Azure's address is OpenAI, and any other is unknown. */
export function chatFlagsOf(url: URL, server: ChatServer | undefined, overrides: ChatOverrides = {}): ChatFlags {
  const named = server ?? (isOpenaiHost(url) ? 'openai' : undefined)
  const known: ChatServerEntry = named === undefined ? { flags: openServerFlags } : chatServers[named]
  const { streams, takesEffort, takesReasoning } = overrides
  const { flags, optionalEfforts = efforts } = known
  return {
    ...flags,
    ...(streams !== undefined && { streams }),
    ...(takesReasoning !== undefined && { takesReasoning }),
    ...(takesEffort === false && { efforts: [] }),
    ...(takesEffort === true && flags.efforts.length === 0 && { efforts: optionalEfforts }),
  }
}

export const isOpenaiHost = ({ hostname }: URL): boolean =>
  hostname === 'api.openai.com' || hostname.endsWith('.openai.azure.com')
