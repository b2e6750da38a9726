/** Looks for stop strings in text that comes in pieces, for upstreams that cannot do it themselves. */
export type StopScanner = {
  /** The text that may be shown, and the stop string that ends it, if one was found. */
  push(text: string): { readonly text: string; readonly stop?: string }
  /** What was held back, once no more text can follow. */
  flush(): string
}

/** Holds back as many characters as could be the beginning of a stop string: the longest one less one. */
export function createStopScanner(stops: readonly string[]): StopScanner {
  const sought = stops.filter((stop) => stop !== '')
  const holdBack = Math.max(0, ...sought.map((stop) => stop.length - 1))
  let held = ''
  return {
    push(text) {
      const all = held + text
      const found = firstOf(sought, all)
      if (found !== undefined) {
        held = ''
        return { text: all.slice(0, found.at), stop: found.stop }
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
