import type { Tool } from '../../domain/inference/request.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { parametersOf } from '../inference/reading/request-fields.ts'
import { cacheOf } from './decode-block.ts'
import type { CountTokensBody, MessagesBlock, MessagesTool, MessagesToolChange } from './schema.ts'

/** The tools that the model may call: those of the list, with the additions and removals of the conversation applied. */
export function decodeTools({ tools, messages }: Pick<CountTokensBody, 'tools' | 'messages'>): Tool[] {
  const declared = (tools ?? []).map(decodeTool)
  const changes = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content.filter(isChange)))
  if (changes.length === 0) return declared
  const known = new Map(declared.map((tool) => [tool.name, tool]))
  const offered = new Map(known)
  for (const { type, tool } of changes) {
    const added = tool.definition ? decodeTool(tool.definition) : known.get(tool.name ?? '')
    if (type === 'tool_removal') offered.delete(tool.name ?? added?.name ?? '')
    else if (added !== undefined) {
      known.set(added.name, added)
      offered.set(added.name, added)
    }
  }
  return [...offered.values()]
}

const isChange = (block: MessagesBlock): block is MessagesToolChange =>
  block.type === 'tool_addition' || block.type === 'tool_removal'

/** A tool that the vendor runs on its servers. */
type VendorTool = { readonly type: string; readonly name?: unknown }

const isVendorTool = (tool: object): tool is VendorTool =>
  'type' in tool && typeof tool.type === 'string' && tool.type !== 'custom'

function decodeTool(tool: MessagesTool | VendorTool): Tool {
  if (isVendorTool(tool)) {
    const name = typeof tool.name === 'string' ? tool.name : tool.type
    return { type: 'opaque', dialect: 'messages', name, raw: tool }
  }
  const { name, description, strict } = tool
  const parameters = parametersOf(tool.input_schema)
  return { type: 'function', name, parameters, ...omitUndefined({ description, strict }), ...cacheOf(tool) }
}
