/** Finds the end of a JSON object that arrives in parts. */
export type JsonEnd = {
  /** True if the text is one complete object. Every call must pass the previous text with more at its end. */
  isAt(text: string): boolean
}

/** Only counts brackets outside of strings: whether the object is valid is not decided here. Reads each character once. */
export function createJsonEnd(): JsonEnd {
  let at = 0
  let depth = 0
  let isInString = false
  let isOver = false
  let hasMore = false

  function read(character: string): void {
    if (isInString) {
      if (character === '\\') at += 1
      else if (character === '"') isInString = false
    } else if (isOver) hasMore ||= character.trim() !== ''
    else if (character === '"') isInString = true
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') isOver = --depth === 0
  }

  return {
    isAt(text) {
      for (; at < text.length; at++) read(text.charAt(at))
      return isOver && !hasMore
    },
  }
}
