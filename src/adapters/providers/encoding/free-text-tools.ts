/**
 * Tools that take free text instead of JSON, which only OpenAI knows. Elsewhere they are functions with one text,
 * `input`, and so are their calls and results in the history.
 */
import type { ContentPart, Tool } from '../../../domain/inference/request.ts'
import { nameWithin } from '../../../domain/inference/tool-name.ts'
import type { JsonRecord } from '../json-values.ts'
import { asRecord, asText } from '../json-values.ts'

type OpaqueTool = Extract<Tool, { type: 'opaque' }>

export const isFreeText = (tool: OpaqueTool): boolean => asRecord(tool.raw)?.['type'] === 'custom'

export function freeTextTool(tool: OpaqueTool): { name: string; description?: string; parameters: JsonRecord } {
  const raw = asRecord(tool.raw)
  const { description } = asRecord(raw?.['custom']) ?? raw ?? {}
  return {
    name: tool.name,
    ...(asText(description) !== '' && { description: asText(description) }),
    parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  }
}

/** A call or result of such a tool as one of a function; every other part as it is. */
export function withoutFreeText(part: ContentPart): ContentPart {
  if (part.type !== 'opaque') return part
  const raw = asRecord(part.raw) ?? {}
  switch (raw['type']) {
    case 'custom':
      return callOf(raw['id'], asRecord(raw['custom']) ?? {})
    case 'custom_tool_call':
      return callOf(raw['call_id'], raw)
    case 'custom_tool_call_output':
      return resultOf(raw)
    default:
      return part
  }
}

const callOf = (id: unknown, { namespace, name, input }: JsonRecord): ContentPart => ({
  type: 'tool-call',
  id: asText(id),
  name: nameWithin(asText(namespace), asText(name)),
  input: JSON.stringify({ input: asText(input) }),
})

const resultOf = ({ call_id: id, output }: JsonRecord): ContentPart => ({
  type: 'tool-result',
  id: asText(id),
  parts: [{ type: 'text', text: typeof output === 'string' ? output : JSON.stringify(output ?? '') }],
  isError: false,
})
