import type { SseFrame } from '../../../base/sse.ts'
import type { FrameTemplate } from '../../../domain/inference/events.ts'

/** A delta of a text or thinking block. */
export type TextDelta = { readonly block: number; readonly text: string }

/**
 * Most frames of a stream differ from the previous one only in their text. The cache extracts the text of such a frame
 * without parsing its JSON, because parsing is most of the cost of a frame.
 */
export type FrameCache = {
  /** The text of this frame, if it equals the cached frame except for the text. */
  textOf(frame: SseFrame): string | undefined
  /** What the frames with a text have in common. Call after `textOf` returned one. */
  template(): TextTemplate | undefined
  /** Stores a parsed frame and its text. Pass undefined for a frame that contains anything other than one text. */
  set(frame: SseFrame, delta: TextDelta | undefined): void
}

type TextTemplate = FrameTemplate & { readonly event: string | undefined; readonly block: number }

/** After this many misses in a row caching stops: each frame has a field of its own, such as a sequence number. */
const maxMisses = 4

export function createFrameCache(): FrameCache {
  let template: TextTemplate | undefined
  let misses = 0
  return {
    textOf({ event, data }) {
      if (template === undefined || event !== template.event) return undefined
      const { before, after } = template
      // Slices are compared because `startsWith` with a non-constant string costs as much as parsing.
      const to = data.length - after.length
      if (data.slice(0, before.length) !== before || to < before.length || data.slice(to) !== after) return undefined
      const text = unquoted(data.slice(before.length, to))
      if (text !== undefined) misses = 0
      return text
    },
    template: () => template,
    set(frame, delta) {
      template = delta !== undefined && misses < maxMisses ? templateOf(frame, delta) : undefined
      if (template !== undefined) misses += 1
    },
  }
}

/** Without escapes a text has only one JSON form. If that form occurs exactly once, its position is the text field. */
function templateOf({ event, data }: SseFrame, { block, text }: TextDelta): TextTemplate | undefined {
  const quoted = `"${text}"`
  const at = data.indexOf(quoted)
  if (at === -1 || at !== data.lastIndexOf(quoted) || data.includes('\\')) return undefined
  return { event, before: data.slice(0, at + 1), after: data.slice(at + quoted.length - 1), block }
}

/** Decodes the content of a JSON string literal. Undefined if it is not exactly one literal. */
function unquoted(literal: string): string | undefined {
  if (literal.includes('"') || literal.includes('\\')) return parseText(`"${literal}"`)
  return literal
}

function parseText(json: string): string | undefined {
  try {
    return String(JSON.parse(json))
  } catch {
    return undefined
  }
}
