import type { MinuteCount, MonitoredSubject } from './decision-counts.ts'
import { windowMinutes, type DenialCount } from './spike.ts'

type Counted = { requests: number; denials: number }

/** What one node has seen of one version, by the minute. */
type Sheet = {
  readonly watched: MonitoredSubject
  readonly recent: Map<number, Counted>
  unwritten: Map<number, Counted>
}

/** Counts in memory: what is not written yet, and what this node has seen lately. */
export type DecisionCounter = {
  count(watched: MonitoredSubject, minute: number, isDenied: boolean): void
  /** The latest minutes of it, on this node. */
  latest(watched: MonitoredSubject, minute: number): DenialCount
  /** Hands over what is not written yet; it is forgotten here. */
  takeUnwritten(): readonly MinuteCount[]
  /** Takes back what could not be written. */
  putBack(counts: readonly MinuteCount[]): void
  /** Forgets what is too old to matter. */
  forgetBefore(minute: number): void
}

/** By organization, then by subject, then by version. */
type Sheets = Map<string, Map<string, Map<number, Sheet>>>

export function createDecisionCounter(): DecisionCounter {
  const sheets: Sheets = new Map()

  function sheetOf({ organizationId, subject, version }: MonitoredSubject): Sheet {
    const ofOrganization = kept(sheets, organizationId, () => new Map<string, Map<number, Sheet>>())
    const ofSubject = kept(ofOrganization, subject, () => new Map<number, Sheet>())
    return kept(ofSubject, version, () => {
      return { watched: { organizationId, subject, version }, recent: new Map(), unwritten: new Map() }
    })
  }

  function* all(): Generator<Sheet> {
    for (const ofOrganization of sheets.values())
      for (const ofSubject of ofOrganization.values()) yield* ofSubject.values()
  }

  return {
    count(watched, minute, isDenied) {
      const { recent, unwritten } = sheetOf(watched)
      const one = isDenied ? denial : permission
      add(recent, minute, one)
      add(unwritten, minute, one)
    },
    latest: (watched, minute) => latestOf(sheetOf(watched).recent, minute),
    takeUnwritten() {
      const counts: MinuteCount[] = []
      for (const sheet of all()) {
        for (const [minute, counted] of sheet.unwritten) counts.push({ ...sheet.watched, minute, ...counted })
        sheet.unwritten = new Map()
      }
      return counts
    },
    putBack(counts) {
      for (const { minute, ...count } of counts) add(sheetOf(count).unwritten, minute, count)
    },
    forgetBefore(minute) {
      for (const { watched, recent, unwritten } of all()) {
        for (const at of recent.keys()) if (at < minute) recent.delete(at)
        if (recent.size === 0 && unwritten.size === 0) drop(sheets, watched)
      }
    },
  }
}

const denial: DenialCount = { requests: 1, denials: 1 }
const permission: DenialCount = { requests: 1, denials: 0 }

function kept<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = known.get(key)
  if (found !== undefined) return found
  const made = make()
  known.set(key, made)
  return made
}

function drop(sheets: Sheets, { organizationId, subject, version }: MonitoredSubject): void {
  const ofOrganization = sheets.get(organizationId)
  const ofSubject = ofOrganization?.get(subject)
  ofSubject?.delete(version)
  if (ofSubject?.size === 0) ofOrganization?.delete(subject)
  if (ofOrganization?.size === 0) sheets.delete(organizationId)
}

function add(counts: Map<number, Counted>, minute: number, { requests, denials }: DenialCount): void {
  const counted = counts.get(minute)
  if (counted === undefined) counts.set(minute, { requests, denials })
  else {
    counted.requests += requests
    counted.denials += denials
  }
}

function latestOf(recent: ReadonlyMap<number, DenialCount>, minute: number): DenialCount {
  let requests = 0
  let denials = 0
  for (const [at, counted] of recent) {
    if (at <= minute - windowMinutes) continue
    requests += counted.requests
    denials += counted.denials
  }
  return { requests, denials }
}
