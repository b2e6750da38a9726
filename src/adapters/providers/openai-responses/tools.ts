import type { Tool, ToolChoice } from '../../../domain/inference/request.ts'
import type { ResponsesRequest, ResponsesTool, ResponsesToolChoice } from '../../../wire/openai-responses.ts'
import type { EncodeContext } from '../encoding/encoding.ts'
import { asRecord, asText } from '../json-values.ts'
import type { PortableTool } from '../encoding/tools.ts'
import { portableChoice, portableTools } from '../encoding/tools.ts'

export type ResponsesFlags = {
  /** True for OpenAI's own API, which runs web searches. Web search tools of other dialects are then converted. */
  readonly searchesWeb: boolean
}

type ToolFields = Pick<ResponsesRequest, 'tools' | 'tool_choice' | 'parallel_tool_calls'>

export function encodeTools({ call, toolNames }: EncodeContext, { searchesWeb }: ResponsesFlags): ToolFields {
  const { request, onDropped } = call
  const isSearch = (tool: Tool): boolean =>
    searchesWeb && tool.type === 'opaque' && asText(asRecord(tool.raw)?.['type']).startsWith('web_search')
  const searches = request.tools.filter(isSearch)
  const others = { ...request, tools: request.tools.filter((tool) => !isSearch(tool)) }
  const portable = portableTools(others, onDropped)
  const choice = portableChoice(request, [...portable, ...searches], onDropped)
  const tools = [
    ...portable.map((tool) => encodeTool(tool, toolNames.toUpstream(tool.name))),
    ...(searches.length > 0 ? [{ type: 'web_search' }] : []),
  ]
  if (tools.length === 0) return {}
  const choosesSearch = choice?.type === 'tool' && searches.some((tool) => tool.name === choice.name)
  return {
    tools,
    ...(choice && { tool_choice: choosesSearch ? { type: 'web_search' } : encodeChoice(choice, toolNames.toUpstream) }),
    ...(request.parallelToolCalls !== undefined && { parallel_tool_calls: request.parallelToolCalls }),
  }
}

/** `strict` is always sent, because an omitted value may default to true. */
const encodeTool = ({ description, parameters, strict = false }: PortableTool, name: string): ResponsesTool => ({
  type: 'function',
  name,
  ...(description !== undefined && { description }),
  parameters,
  strict,
})

const encodeChoice = (choice: ToolChoice, nameOf: (name: string) => string): ResponsesToolChoice =>
  choice.type === 'tool' ? { type: 'function', name: nameOf(choice.name) } : choice.type
