/** A calendar month in UTC. */
export type Month = {
  /** Such as 2026-03. */
  readonly month: string
  /** The first millisecond after it. */
  readonly endMs: number
}

/** The last month that had ended at a time. */
export function lastMonthBefore(ms: number): Month {
  const date = new Date(ms)
  const endMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
  return { month: new Date(endMs - 1).toISOString().slice(0, 7), endMs }
}
