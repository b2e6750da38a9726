import { Fault } from '../../base/fault.ts'
import {
  type InferenceRequest,
  type Message,
  type OutputFormat,
  type Reasoning,
  type Tool,
  qualifiedToolName,
} from '../../domain/inference/request.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { selectTools, type OpenaiChoice } from '../inference/reading/openai-tools.ts'
import { effortByName, parametersOf } from '../inference/reading/request-fields.ts'
import { invalidField } from '../validate.ts'
import { decodeItem, signatureOf } from './decode-item.ts'
import type { ResponsesBody, ResponsesNamespace, ResponsesTool, ResponsesItem } from './schema.ts'
import { vendorFieldRoles } from '../../wire/field-roles.ts'
import { isEnvelope } from '../inference/signature-envelope.ts'

/** Decodes a validated body of `POST /v1/responses`. References to earlier items must be resolved before (`history.ts`). */
export function decodeResponses(body: ResponsesBody): InferenceRequest {
  rejectUnsupported(body)
  return {
    model: body.model,
    stream: body.stream ?? false,
    messages: [...systemMessages(body.instructions), ...decodeInput(body.input)],
    stop: [],
    flaggedCategories: body.flagged_categories ?? [],
    raw: { dialect: 'responses', body: withoutGatewayItems(body), headers: {}, roles: vendorFieldRoles },
    ...selectTools(toolsIn(body), choiceOf(body.tool_choice)),
    ...omitUndefined({
      maxOutputTokens: body.max_output_tokens,
      temperature: body.temperature,
      topP: body.top_p,
      parallelToolCalls: body.parallel_tool_calls,
      reasoning: decodeReasoning(body.reasoning),
      outputFormat: formatOf(body.text?.format),
      user: body.safety_identifier ?? body.user ?? body.metadata?.['user_id'],
      metadata: body.metadata,
    }),
  }
}

/** Rejects fields that refer to stored content, because no policy could check it. */
function rejectUnsupported(body: ResponsesBody): void {
  const reject = (param: string, message: string): never => {
    throw new Fault('validation', 'unsupported_parameter', `${param}: ${message}`, { param })
  }
  if ('n' in body && body.n != null && body.n !== 1) reject('n', 'must be 1; a response has one answer')
  if (body.background === true) reject('background', 'is not supported; the response is always sent at once')
  if ('conversation' in body && body.conversation != null)
    reject('conversation', 'is not supported; send the items in input')
  if ('prompt' in body && body.prompt != null)
    reject('prompt', 'is not supported; send its text in instructions or input')
  if (body.previous_response_id) {
    reject('previous_response_id', 'needs an API key; without one, send the earlier items in input')
  }
}

const systemMessages = (instructions: string | null | undefined): Message[] =>
  instructions ? [{ role: 'system', parts: [{ type: 'text', text: instructions }] }] : []

function decodeInput(input: ResponsesBody['input']): Message[] {
  if (typeof input === 'string') return [{ role: 'user', parts: [{ type: 'text', text: input }] }]
  if (!input) throw invalidField(['input'], 'is required')
  if (input.length === 0) throw invalidField(['input'], 'must have at least 1 item')
  return input.map((item, at) => decodeItem(item, ['input', at]))
}

/** The tools of the list and those added during the conversation, without duplicates. */
function toolsIn({ tools, input }: ResponsesBody): readonly Tool[] {
  const declared = (tools ?? []).flatMap(decodeTools)
  const items = Array.isArray(input) ? input : []
  const later = items.flatMap((item) => (item.type === 'additional_tools' ? item.tools.flatMap(decodeTools) : []))
  if (later.length === 0) return declared
  return [...new Map([...declared, ...later].map((tool) => [tool.name, tool])).values()]
}

type AnyTool = ResponsesTool | { readonly type: string; readonly name?: unknown }

const decodeTools = (tool: AnyTool | ResponsesNamespace): Tool[] =>
  isNamespace(tool) ? tool.tools.map((member) => decodeTool(member, tool.name)) : [decodeTool(tool)]

function decodeTool(tool: AnyTool, namespace?: string): Tool {
  const name = qualifiedToolName(namespace, typeof tool.name === 'string' ? tool.name : tool.type)
  if (!isFunction(tool)) return { type: 'opaque', dialect: 'responses', name, raw: tool }
  const { description, parameters, strict } = tool
  return { type: 'function', name, parameters: parametersOf(parameters), ...omitUndefined({ description, strict }) }
}

const isFunction = (tool: { readonly type: string }): tool is ResponsesTool => tool.type === 'function'
const isNamespace = (tool: { readonly type: string }): tool is ResponsesNamespace => tool.type === 'namespace'

function choiceOf(choice: ResponsesBody['tool_choice']): OpenaiChoice | undefined {
  if (!choice) return undefined
  if (typeof choice === 'string') return { kind: 'mode', mode: choice }
  switch (choice.type) {
    case 'function':
    case 'custom':
      return { kind: 'named', name: qualifiedToolName(choice.namespace, choice.name), path: ['tool_choice', 'name'] }
    case 'allowed_tools': {
      const names = choice.tools.map(({ type = '', name = type, namespace }) => qualifiedToolName(namespace, name))
      return { kind: 'allowed', mode: choice.mode, names }
    }
    default:
      return hostedChoice(choice)
  }
}

/** A vendor tool is chosen by its type, which is also its name in `InferenceRequest`. */
const hostedChoice = ({ type }: { readonly type: string }): OpenaiChoice => ({
  kind: 'named',
  name: type,
  path: ['tool_choice', 'type'],
})

function decodeReasoning(reasoning: ResponsesBody['reasoning']): Reasoning | undefined {
  if (!reasoning) return undefined
  return omitUndefined({ effort: effortByName(reasoning.effort), visible: reasoning.summary ? true : undefined })
}

function formatOf(format: NonNullable<ResponsesBody['text']>['format']): OutputFormat | undefined {
  if (format?.type === 'json_object') return { type: 'json-object' }
  if (format?.type !== 'json_schema') return undefined
  const { name, schema, strict } = format
  return { type: 'json-schema', name, schema, ...omitUndefined({ strict }) }
}

/**
 * The caller's body for an upstream of the same dialect: unchanged, without the gateway's own field. Signatures in the
 * gateway's envelope are unwrapped if an upstream of this format made them; other reasoning is left out.
 */
function withoutGatewayItems(body: ResponsesBody): Readonly<Record<string, unknown>> {
  const rest = { ...body }
  delete rest.flagged_categories
  return Array.isArray(body.input) ? { ...rest, input: body.input.flatMap(unwrapped) } : rest
}

function unwrapped(item: ResponsesItem): ResponsesItem[] {
  if (item.type !== 'reasoning' || !isEnvelope(item.encrypted_content ?? '')) return [item]
  const signature = signatureOf(item)
  if (signature?.format !== 'responses') return []
  return [{ ...item, encrypted_content: signature.value, ...(signature.id !== undefined && { id: signature.id }) }]
}
