import type { CacheMarker, InferenceRequest, ToolChoice } from '../../../domain/inference/request.ts'
import { functionForClientTool } from './client-tools.ts'
import { functionForFreeText, isFreeText } from './free-text-tools.ts'
import { unsupported } from './lossy-conversions.ts'
import type { JsonRecord } from '../json-values.ts'
import { parseRecord } from '../json-values.ts'

/** A function tool that every vendor supports. */
export type PortableTool = {
  readonly name: string
  readonly description?: string
  readonly parameters: JsonRecord
  readonly strict?: boolean
  readonly cache?: CacheMarker
}

/** Vendor-run tools that agents add to every request. The model can do without them, so they are dropped, not rejected. */
const droppableTools: ReadonlySet<string> = new Set(['web_search', 'image_generation', 'tool_search'])

/**
 * The tools for an upstream of another dialect. A free-text tool becomes a function with one string argument, a tool that the
 * caller runs under the vendor's schema a function with that schema. A tool that the vendor runs itself is dropped if agents
 * send it with every request, otherwise rejected.
 */
export function portableTools({ tools }: InferenceRequest, onDropped: (field: string) => void): PortableTool[] {
  return tools.flatMap((tool) => {
    if (tool.type === 'function') return [{ ...tool, parameters: parametersOf(tool.parameters) }]
    const converted = isFreeText(tool) ? functionForFreeText(tool) : functionForClientTool(tool)
    if (converted !== undefined) return [converted]
    if (tool.dialect !== 'messages' && !droppableTools.has(tool.name))
      throw unsupported('tools', `This model’s upstream does not support the tool \`${tool.name}\`.`)
    onDropped(`tools.${tool.name}`)
    return []
  })
}

/** The caller's tool choice, adjusted for tools that were dropped. Throws if none is left: the model could not do its task. */
export function portableChoice(
  { tools: requested, toolChoice }: InferenceRequest,
  tools: readonly { readonly name: string }[],
  onDropped: (field: string) => void,
): ToolChoice | undefined {
  if (tools.length === 0) {
    if (requested.length === 0 || toolChoice?.type === 'none') return undefined
    throw unsupported('tools', 'This model’s upstream supports none of the requested tools.')
  }
  if (toolChoice === undefined || requested.length === tools.length) return toolChoice
  if (toolChoice.type !== 'tool' || tools.some((tool) => tool.name === toolChoice.name)) return toolChoice
  onDropped('tool_choice')
  return { type: 'auto' }
}

/** An argument schema that every vendor accepts: an object schema, without the `$schema` that code generators add. */
function parametersOf({ $schema: _, ...schema }: JsonRecord): JsonRecord {
  return { ...schema, type: 'object', properties: schema['properties'] ?? {} }
}

/** Parses the arguments of an earlier call. Invalid JSON is kept as `_raw`, so that the history can still be sent. */
export const inputObject = (input: string): JsonRecord =>
  input.trim() === '' ? {} : (parseRecord(input) ?? { _raw: input })
