/** Finds stop strings in streamed text, for upstreams that do not support them. */
export type StopScanner = {
  /** Returns the text that may be emitted, and the stop string that ends it, if one was found. */
  push(text: string): { readonly text: string; readonly stop?: string }
  /** Returns the held-back text when no more text can follow. */
  flush(): string
}

/** Holds back the length of the longest stop string minus one, because that many characters could be a prefix of it. */
export function createStopScanner(stops: readonly string[]): StopScanner {
  const nonEmpty = stops.filter((stop) => stop !== '')
  const holdBack = Math.max(0, ...nonEmpty.map((stop) => stop.length - 1))
  let held = ''
  return {
    push(text) {
      const all = held + text
      const match = firstOf(nonEmpty, all)
      if (match !== undefined) {
        held = ''
        return { text: all.slice(0, match.at), stop: match.stop }
      }
      const safeLength = Math.max(0, all.length - holdBack)
      held = all.slice(safeLength)
      return { text: all.slice(0, safeLength) }
    },
    flush() {
      const rest = held
      held = ''
      return rest
    },
  }
}

function firstOf(stops: readonly string[], text: string): { at: number; stop: string } | undefined {
  let first: { at: number; stop: string } | undefined
  for (const stop of stops) {
    const at = text.indexOf(stop)
    if (at !== -1 && (first === undefined || at < first.at)) first = { at, stop }
  }
  return first
}
