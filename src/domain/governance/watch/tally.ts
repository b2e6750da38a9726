import type { MinuteCount, Watched } from './decision-counts.ts'
import { windowMinutes, type Tally } from './spike.ts'

type Counted = { requests: number; denials: number }

/** What one node has seen of one version, by the minute. */
type Sheet = { readonly watched: Watched; readonly recent: Map<number, Counted>; unwritten: Map<number, Counted> }

/** Counts in memory: what is not written yet, and what this node has seen lately. */
export type DecisionTally = {
  /** Answers the latest minutes of it, on this node. */
  count(watched: Watched, minute: number, isDenied: boolean): Tally
  /** Hands over what is not written yet; it is forgotten here. */
  takeUnwritten(): readonly MinuteCount[]
  /** Takes back what could not be written. */
  putBack(counts: readonly MinuteCount[]): void
  /** Forgets what is too old to matter. */
  forgetBefore(minute: number): void
}

export function createDecisionTally(): DecisionTally {
  const sheets = new Map<string, Sheet>()

  function sheetOf(watched: Watched): Sheet {
    const key = `${watched.organizationId} ${watched.subject} ${watched.version}`
    const known = sheets.get(key)
    if (known) return known
    const sheet = { watched, recent: new Map<number, Counted>(), unwritten: new Map<number, Counted>() }
    sheets.set(key, sheet)
    return sheet
  }

  return {
    count(watched, minute, isDenied) {
      const { recent, unwritten } = sheetOf(watched)
      const one = { requests: 1, denials: isDenied ? 1 : 0 }
      add(recent, minute, one)
      add(unwritten, minute, one)
      return latest(recent, minute)
    },
    takeUnwritten() {
      const counts: MinuteCount[] = []
      for (const sheet of sheets.values()) {
        for (const [minute, counted] of sheet.unwritten) counts.push({ ...sheet.watched, minute, ...counted })
        sheet.unwritten = new Map()
      }
      return counts
    },
    putBack(counts) {
      for (const { minute, ...count } of counts) add(sheetOf(count).unwritten, minute, count)
    },
    forgetBefore(minute) {
      for (const [key, { recent, unwritten }] of sheets) {
        for (const at of recent.keys()) if (at < minute) recent.delete(at)
        if (recent.size === 0 && unwritten.size === 0) sheets.delete(key)
      }
    },
  }
}

function add(counts: Map<number, Counted>, minute: number, { requests, denials }: Tally): void {
  const counted = counts.get(minute)
  if (counted === undefined) counts.set(minute, { requests, denials })
  else {
    counted.requests += requests
    counted.denials += denials
  }
}

function latest(recent: ReadonlyMap<number, Tally>, minute: number): Tally {
  let requests = 0
  let denials = 0
  for (const [at, counted] of recent) {
    if (at <= minute - windowMinutes) continue
    requests += counted.requests
    denials += counted.denials
  }
  return { requests, denials }
}
