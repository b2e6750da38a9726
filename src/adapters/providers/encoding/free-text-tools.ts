/**
 * Tools that take free text instead of JSON (OpenAI's `custom` tools). For other vendors each becomes a function with one
 * string argument, `input`. Calls and results in the history are converted in the same way.
 */
import type { ContentPart, Tool } from '../../../domain/inference/request.ts'
import { qualifiedToolName } from '../../../domain/inference/request.ts'
import type { JsonRecord } from '../json-values.ts'
import { asRecord, asText } from '../json-values.ts'

type OpaqueTool = Extract<Tool, { type: 'opaque' }>

export const isFreeText = (tool: OpaqueTool): boolean => asRecord(tool.raw)?.['type'] === 'custom'

export function functionForFreeText(tool: OpaqueTool): { name: string; description?: string; parameters: JsonRecord } {
  const raw = asRecord(tool.raw)
  const { description } = asRecord(raw?.['custom']) ?? raw ?? {}
  return {
    name: tool.name,
    ...(asText(description) !== '' && { description: asText(description) }),
    parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  }
}

/** Converts a call or result of a free-text tool to that of a function. Returns every other part unchanged. */
export function freeTextAsFunction(part: ContentPart): ContentPart {
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
  name: qualifiedToolName(asText(namespace), asText(name)),
  input: JSON.stringify({ input: asText(input) }),
})

const resultOf = ({ call_id: id, output }: JsonRecord): ContentPart => ({
  type: 'tool-result',
  id: asText(id),
  parts: [{ type: 'text', text: typeof output === 'string' ? output : JSON.stringify(output ?? '') }],
  isError: false,
})
