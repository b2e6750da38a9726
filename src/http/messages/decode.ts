import type { IncomingHttpHeaders } from 'node:http'
import type {
  InferenceRequest,
  Message,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
} from '../../domain/inference/request.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { effortByName } from '../inference/reading/request-fields.ts'
import { invalidField } from '../validate.ts'
import { decodeBlock, decodeText } from './decode-block.ts'
import type { CountTokensBody, MessagesBody, MessagesBlock } from './schema.ts'
import { decodeTools } from './tools.ts'
import { vendorFieldRoles } from '../../wire/field-roles.ts'
import { isEnvelope } from '../inference/signature-envelope.ts'

/** Decodes a validated body of `POST /v1/messages`. */
export function decodeMessages(body: MessagesBody, headers: IncomingHttpHeaders): InferenceRequest {
  const { max_tokens: limit } = body
  const budget = body.thinking?.budget_tokens ?? 0
  // The budget of interleaved thinking spans several answers, so it may exceed `max_tokens`.
  const isBounded = !String(headers['anthropic-beta']).includes('interleaved-thinking')
  if (isBounded && budget > 0 && typeof limit === 'number' && budget >= limit) {
    throw invalidField(['thinking', 'budget_tokens'], 'must be less than max_tokens')
  }
  return {
    ...decodeShared(body, headers),
    stream: body.stream ?? false,
    stop: body.stop_sequences ?? [],
    flaggedCategories: body.flagged_categories ?? [],
    ...omitUndefined({
      maxOutputTokens: limit,
      temperature: body.temperature,
      topP: body.top_p,
      topK: body.top_k,
      user: body.metadata?.user_id,
      outputFormat: formatOf(body.output_config?.format ?? body.output_format),
    }),
  }
}

/** Decodes a validated body of `POST /v1/messages/count_tokens`. */
export function decodeCountTokens(body: CountTokensBody, headers: IncomingHttpHeaders): InferenceRequest {
  const outputFormat = formatOf(body.output_config?.format)
  return {
    ...decodeShared(body, headers),
    stream: false,
    stop: [],
    flaggedCategories: [],
    ...omitUndefined({ outputFormat }),
  }
}

function decodeShared(body: CountTokensBody, headers: IncomingHttpHeaders) {
  const tools = decodeTools(body)
  return {
    model: body.model,
    messages: [...systemMessages(body.system), ...withoutExpired(body.messages).map(decodeMessage)],
    tools,
    raw: {
      dialect: 'messages' as const,
      body: withoutGatewayFields(body),
      headers: withLongContext(dialectHeaders(headers), body.model),
      roles: vendorFieldRoles,
    },
    ...omitUndefined({
      toolChoice: decodeToolChoice(body.tool_choice, tools),
      parallelToolCalls: body.tool_choice?.disable_parallel_tool_use === true ? false : undefined,
      reasoning: decodeReasoning(body.thinking, effortIn(body)),
    }),
  }
}

function systemMessages(system: CountTokensBody['system']): Message[] {
  if (!system || system.length === 0) return []
  return [{ role: 'system', parts: typeof system === 'string' ? [decodeText(system)] : system.map(decodeBlock) }]
}

/** Removes system messages that applied to an earlier turn only. */
function withoutExpired(messages: CountTokensBody['messages']): CountTokensBody['messages'] {
  const lastUser = messages.findLastIndex(({ role = 'user' }) => role === 'user')
  const isExpired = ({ role, clear_at: until }: CountTokensBody['messages'][number], at: number): boolean =>
    role === 'system' && until === 'next_user_message' && at < lastUser
  return messages.filter((message, at) => !isExpired(message, at))
}

/** The reasoning effort: the last one in the conversation, else the one of the request. */
const effortIn = ({ messages, output_config: config }: CountTokensBody): string | null | undefined =>
  messages.findLast((message) => message.output_config?.effort)?.output_config?.effort ?? config?.effort

function decodeMessage({ role = 'user', content }: CountTokensBody['messages'][number]): Message {
  return { role, parts: typeof content === 'string' ? [decodeText(content)] : content.map(decodeBlock) }
}

const choiceTypes = { auto: 'auto', any: 'required', none: 'none' } as const

function decodeToolChoice(choice: CountTokensBody['tool_choice'], tools: readonly Tool[]): ToolChoice | undefined {
  if (!choice) return undefined
  const { name = null } = choice
  const type = choice.type ?? (name === null ? 'auto' : 'tool')
  if (type !== 'tool') return { type: choiceTypes[type] }
  if (name === null) throw invalidField(['tool_choice', 'name'], 'is required')
  if (!tools.some((tool) => tool.name === name)) {
    throw invalidField(['tool_choice', 'name'], 'names no tool of this request')
  }
  return { type: 'tool', name }
}

function decodeReasoning(
  thinking: CountTokensBody['thinking'],
  effortName: string | null | undefined,
): Reasoning | undefined {
  if (thinking?.type === 'disabled') return { effort: 'none' }
  const effort = effortByName(effortName)
  if (!thinking) return effort && { effort }
  return { visible: thinking.display !== 'omitted', ...omitUndefined({ effort, budgetTokens: thinking.budget_tokens }) }
}

function formatOf(format: MessagesBody['output_format']): OutputFormat | undefined {
  return format ? { type: 'json-schema', name: 'output', schema: format.schema } : undefined
}

/** The two headers that change what the dialect means; an upstream of the same dialect must get them unchanged. */
function dialectHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name of ['anthropic-version', 'anthropic-beta']) {
    const value = headers[name]
    if (value !== undefined) kept[name] = Array.isArray(value) ? value.join(',') : value
  }
  return kept
}

const longContextFeature = 'context-1m-2025-08-07'

/** Claude Code appends `[1m]` to the model for the long context. The vendor does not know the name, but a beta header. */
function withLongContext(headers: Record<string, string>, model: string): Record<string, string> {
  const { 'anthropic-beta': features = '' } = headers
  if (!model.endsWith('[1m]') || features.includes('context-1m')) return headers
  return { ...headers, 'anthropic-beta': features === '' ? longContextFeature : `${features},${longContextFeature}` }
}

type AnyBody = CountTokensBody & Pick<MessagesBody, 'flagged_categories'>

/**
 * The caller's body for an upstream of the same dialect. It is unchanged except for four things that are removed:
 * `flagged_categories`, the edit that keeps all thinking (the gateway always does), thinking without a signature of
 * the upstream, and fields that are null, because they mean the same as absent ones.
 */
function withoutGatewayFields(body: AnyBody): Readonly<Record<string, unknown>> {
  const { context_management: management, ...rest } = body
  delete rest.flagged_categories
  const edits = management?.edits?.filter((edit) => edit.type !== 'clear_thinking_20251015' || edit.keep !== 'all')
  const keepsEdits = management && (edits === undefined || edits.length > 0)
  return {
    ...omitUndefined(rest),
    messages: body.messages.map(withoutForeignThinking),
    ...(keepsEdits && { context_management: { ...management, ...(edits && { edits }) } }),
  }
}

type AnyMessage = CountTokensBody['messages'][number]

function withoutForeignThinking(message: AnyMessage): AnyMessage {
  const { content } = message
  if (message.role !== 'assistant' || typeof content === 'string' || !content.some(isForeign)) return message
  return { ...message, content: content.filter((block) => !isForeign(block)) }
}

function isForeign(block: MessagesBlock): boolean {
  if (block.type === 'redacted_thinking') return isEnvelope(block.data)
  return block.type === 'thinking' && (!block.signature || isEnvelope(block.signature))
}
