import type { CacheMarker, InferenceRequest, ToolChoice } from '../../../domain/inference/request.ts'
import { freeTextTool, isFreeText } from './free-text-tools.ts'
import { unsupported } from './lossy-conversions.ts'
import type { JsonRecord } from '../json-values.ts'
import { parseRecord } from '../json-values.ts'

/** A tool that any upstream can be told of. */
export type PortableTool = {
  readonly name: string
  readonly description?: string
  readonly parameters: JsonRecord
  readonly strict?: boolean
  readonly cache?: CacheMarker
}

/** Tools of a vendor's own that agents offer with every request, and that a model can do without. */
const offeredUnasked: ReadonlySet<string> = new Set(['web_search', 'image_generation', 'tool_search'])

/**
 * Tools for an upstream of another dialect. A tool that takes free text becomes a function with one text. A tool that
 * a vendor runs itself is left out where agents send it unasked, and refused where it was asked for.
 */
export function portableTools({ tools }: InferenceRequest, onDropped: (what: string) => void): PortableTool[] {
  return tools.flatMap((tool) => {
    if (tool.type === 'function') return [{ ...tool, parameters: parametersOf(tool.parameters) }]
    if (isFreeText(tool)) return [freeTextTool(tool)]
    if (tool.dialect !== 'messages' && !offeredUnasked.has(tool.name))
      throw unsupported('tools', `This model’s upstream has no tool \`${tool.name}\`.`)
    onDropped(`tools.${tool.name}`)
    return []
  })
}

/** What remains of the caller's choice once some of the tools are gone. */
export function portableChoice(
  { tools: asked, toolChoice }: InferenceRequest,
  tools: readonly { readonly name: string }[],
  onDropped: (what: string) => void,
): ToolChoice | undefined {
  if (toolChoice === undefined || asked.length === tools.length) return tools.length > 0 ? toolChoice : undefined
  const isForced = toolChoice.type === 'required' || toolChoice.type === 'tool'
  if (tools.length === 0 && isForced) throw unsupported('tool_choice', 'This model’s upstream has none of these tools.')
  if (tools.length === 0) return undefined
  if (toolChoice.type !== 'tool' || tools.some((tool) => tool.name === toolChoice.name)) return toolChoice
  onDropped('tool_choice')
  return { type: 'auto' }
}

/** A schema of arguments that every vendor takes: an object, without the dialect that code generators add. */
function parametersOf({ $schema: _, ...schema }: JsonRecord): JsonRecord {
  return { ...schema, type: 'object', properties: schema['properties'] ?? {} }
}

/** Arguments as an object. Text that is none is kept as it is, so that the history can still be told. */
export const inputObject = (input: string): JsonRecord =>
  input.trim() === '' ? {} : (parseRecord(input) ?? { _raw: input })
