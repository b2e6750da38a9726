import type { ContentPart, Message } from '../../inference/request.ts'
import type { InjectionPlace } from '../../scan/injection/places.ts'

/**
 * Where the texts of a part are scanned for prompt injections. Undefined for what the operator and the model wrote. What a vendor's own
 * tools gave has no form of its own, so unknown parts of an answer count as results of tools.
 */
export function placeOf(role: Message['role'], part: ContentPart): InjectionPlace | undefined {
  if (part.type === 'tool-result') return 'tool_results'
  if (role === 'assistant' && part.type === 'opaque' && part.isToolCall === true) return undefined
  if (part.type === 'opaque' && (role === 'assistant' || part.isToolResult === true)) return 'tool_results'
  if (role !== 'user') return undefined
  if (part.type === 'text') return 'user_text'
  return part.type === 'file' || part.type === 'image' || part.type === 'opaque' ? 'documents' : undefined
}

/** Adds a place to those of a text, because a text may be in several. */
export function addPlace(places: Map<string, readonly InjectionPlace[]>, text: string, place: InjectionPlace): void {
  const known = places.get(text)
  if (known === undefined) places.set(text, single[place])
  else if (!known.includes(place)) places.set(text, [...known, place])
}

/** Shared, because most texts are in one place. */
const single: Readonly<Record<InjectionPlace, readonly InjectionPlace[]>> = {
  tool_results: ['tool_results'],
  documents: ['documents'],
  user_text: ['user_text'],
}
