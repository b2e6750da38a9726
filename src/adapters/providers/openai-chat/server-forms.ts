import { asList, asRecord } from '../json-values.ts'
import type { ChatFlags } from './servers.ts'

type ToolFields = { readonly tools?: unknown; readonly tool_choice?: unknown }

/** The caller's messages in a form that the server accepts. A message that needs no change stays the same object. */
export function messagesFor(messages: unknown, flags: ChatFlags): unknown {
  const takesAll = flags.takesNullContent && flags.takesTextParts && flags.knowsDeveloper
  return takesAll || !Array.isArray(messages) ? messages : messages.map((message) => messageFor(message, flags))
}

function messageFor(value: unknown, flags: ChatFlags): unknown {
  const message = asRecord(value)
  if (message === undefined) return value
  const role = flags.knowsDeveloper || message['role'] !== 'developer' ? message['role'] : 'system'
  const content = contentFor(message['content'], flags)
  return role === message['role'] && content === message['content'] ? message : { ...message, role, content }
}

/** Strict servers validate the content as a string, also in a message that has only tool calls. */
function contentFor(content: unknown, { takesNullContent, takesTextParts }: ChatFlags): unknown {
  if (content === null || content === undefined) return takesNullContent ? content : ''
  if (takesTextParts || !Array.isArray(content) || !content.every(isTextPart)) return content
  return joinTexts(content)
}

type TextPart = { readonly type: 'text'; readonly text: string }

export const isTextPart = (part: unknown): part is TextPart => {
  const record = asRecord(part)
  return record?.['type'] === 'text' && typeof record['text'] === 'string'
}

export const joinTexts = (parts: readonly TextPart[]): string => parts.map(({ text }) => text).join('\n\n')

/**
 * The tools and the tool choice for the server. A choice that names a tool becomes that tool alone with `required`, where
 * the server does not accept names. Where it ignores every choice, `none` becomes no tools, and other choices are dropped.
 */
export function toolFieldsFor(fields: ToolFields, flags: ChatFlags, onDropped: (field: string) => void): ToolFields {
  const { tool_choice: choice } = fields
  if (choice === undefined || choice === null || choice === 'auto') return fields
  if (!flags.takesChoice && choice === 'none') return {}
  const name = asRecord(asRecord(choice)?.['function'])?.['name']
  if (flags.takesNamedChoice || typeof name !== 'string') return enforced(fields, flags, onDropped)
  const tools = asList(fields.tools).filter((tool) => asRecord(asRecord(tool)?.['function'])?.['name'] === name)
  return enforced({ tools, tool_choice: 'required' }, flags, onDropped)
}

function enforced(fields: ToolFields, { takesChoice }: ChatFlags, onDropped: (field: string) => void): ToolFields {
  if (takesChoice) return fields
  onDropped('tool_choice')
  return { tools: fields.tools }
}

/** The response format for the server. */
export function responseFormatFor(value: unknown, { schemaFormat, objectFormat }: ChatFlags): unknown {
  const format = asRecord(value)
  if (format?.['type'] === 'json_schema' && schemaFormat === 'json_object')
    return { type: 'json_object', schema: asRecord(format['json_schema'])?.['schema'] }
  if (format?.['type'] === 'json_object' && objectFormat === 'json_schema')
    return { type: 'json_schema', json_schema: { name: 'object', schema: { type: 'object' } } }
  return value
}
