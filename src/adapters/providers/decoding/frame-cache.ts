import type { SseFrame } from '../../../base/sse.ts'

/** A piece of text and the block that it belongs to. */
export type TextDelta = { readonly block: number; readonly text: string }

/**
 * Most frames of a stream differ from the one before in nothing but a piece of text. What such a frame says is known
 * without parsing it, which is most of what a frame costs.
 */
export type FrameCache = {
  /** What this frame says, if it is like the last one learned but for its text. */
  recall(frame: SseFrame): TextDelta | undefined
  /** To be told what each frame said that had to be parsed; undefined for all but a piece of text. */
  learn(frame: SseFrame, said: TextDelta | undefined): void
}

type Pattern = {
  readonly event: string | undefined
  readonly before: string
  readonly after: string
  readonly block: number
}

/** Frames that carry something of their own besides the text (a number, a filler) are not worth remembering. */
const maxUseless = 4

export function createFrameCache(): FrameCache {
  let pattern: Pattern | undefined
  let useless = 0
  return {
    recall({ event, data }) {
      if (pattern === undefined || event !== pattern.event) return undefined
      const { before, after, block } = pattern
      // Compared as slices: `startsWith` with a text that the engine does not know beforehand costs as much as parsing.
      const to = data.length - after.length
      if (data.slice(0, before.length) !== before || to < before.length || data.slice(to) !== after) return undefined
      const text = unquoted(data.slice(before.length, to))
      if (text === undefined) return undefined
      useless = 0
      return { block, text }
    },
    learn(frame, said) {
      pattern = said !== undefined && useless < maxUseless ? patternOf(frame, said) : undefined
      if (pattern !== undefined) useless += 1
    },
  }
}

/** Where nothing is escaped each text is spelled in one way, so if it stands there once, that is where it came from. */
function patternOf({ event, data }: SseFrame, { block, text }: TextDelta): Pattern | undefined {
  const quoted = `"${text}"`
  const at = data.indexOf(quoted)
  if (at === -1 || at !== data.lastIndexOf(quoted) || data.includes('\\')) return undefined
  return { event, before: data.slice(0, at + 1), after: data.slice(at + quoted.length - 1), block }
}

/** The text between two quotes of a JSON document; undefined where it is more than one text. */
function unquoted(spelled: string): string | undefined {
  if (spelled.includes('"') || spelled.includes('\\')) return parseText(`"${spelled}"`)
  return spelled
}

function parseText(json: string): string | undefined {
  try {
    return String(JSON.parse(json))
  } catch {
    return undefined
  }
}
