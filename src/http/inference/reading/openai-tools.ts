import type { Tool, ToolChoice } from '../../../domain/inference/request.ts'
import { qualifiedToolName } from '../../../domain/inference/request.ts'
import { invalidField } from '../../validate.ts'

/** The tools that a request may use, with its tool choice applied. */
export type ToolSelection = { readonly tools: readonly Tool[]; readonly toolChoice?: ToolChoice }

/** A choice of either OpenAI dialect, unwrapped. */
export type OpenaiChoice =
  | { readonly kind: 'mode'; readonly mode: 'auto' | 'required' | 'none' }
  | { readonly kind: 'named'; readonly name: string; readonly path: readonly (string | number)[] }
  | { readonly kind: 'allowed'; readonly mode: 'auto' | 'required'; readonly names: readonly string[] }

/**
 * Applies the tool choice. `InferenceRequest` has no list of allowed tools, so tools that are not allowed are left out,
 * which every upstream supports.
 */
export function selectTools(tools: readonly Tool[], choice: OpenaiChoice | undefined): ToolSelection {
  switch (choice?.kind) {
    case undefined:
      return { tools }
    case 'mode':
      return { tools, toolChoice: { type: choice.mode } }
    case 'allowed':
      return { tools: tools.filter(({ name }) => isAllowed(choice.names, name)), toolChoice: { type: choice.mode } }
    case 'named':
      if (!tools.some((tool) => tool.name === choice.name))
        throw invalidField(choice.path, 'names no tool of this request')
      return { tools, toolChoice: { type: 'tool', name: choice.name } }
  }
}

/** The name of a namespace allows all tools in it. */
const isAllowed = (allowed: readonly string[], name: string): boolean =>
  allowed.some((each) => name === each || name.startsWith(qualifiedToolName(each, '')))
