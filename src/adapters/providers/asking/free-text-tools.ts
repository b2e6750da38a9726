/**
 * Tools that take free text instead of JSON, which only OpenAI knows. Elsewhere they are functions with one text,
 * `input`, and so are their calls and results in the history.
 */
import type { ContentPart, Tool } from '../../../domain/inference/request.ts'
import { nameWithin } from '../../../domain/inference/tool-name.ts'
import type { Json } from '../reading.ts'
import { recordOf, textOf } from '../reading.ts'

type OpaqueTool = Extract<Tool, { type: 'opaque' }>

export const isFreeText = (tool: OpaqueTool): boolean => recordOf(tool.raw)?.['type'] === 'custom'

export function freeTextTool(tool: OpaqueTool): { name: string; description?: string; parameters: Json } {
  const raw = recordOf(tool.raw)
  const { description } = recordOf(raw?.['custom']) ?? raw ?? {}
  return {
    name: tool.name,
    ...(textOf(description) !== '' && { description: textOf(description) }),
    parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  }
}

/** A call or result of such a tool as one of a function; every other part as it is. */
export function withoutFreeText(part: ContentPart): ContentPart {
  if (part.type !== 'opaque') return part
  const raw = recordOf(part.raw) ?? {}
  switch (raw['type']) {
    case 'custom':
      return callOf(raw['id'], recordOf(raw['custom']) ?? {})
    case 'custom_tool_call':
      return callOf(raw['call_id'], raw)
    case 'custom_tool_call_output':
      return resultOf(raw)
    default:
      return part
  }
}

const callOf = (id: unknown, { namespace, name, input }: Json): ContentPart => ({
  type: 'tool-call',
  id: textOf(id),
  name: nameWithin(textOf(namespace), textOf(name)),
  input: JSON.stringify({ input: textOf(input) }),
})

const resultOf = ({ call_id: id, output }: Json): ContentPart => ({
  type: 'tool-result',
  id: textOf(id),
  parts: [{ type: 'text', text: typeof output === 'string' ? output : JSON.stringify(output ?? '') }],
  isError: false,
})
