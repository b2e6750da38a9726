import type { MinuteCount, MonitoredSubject } from './decision-counts.ts'
import { windowMinutes, type DenialCount } from './spike.ts'

type Counted = { requests: number; denials: number }

/** The counts of one version on this node, per minute. */
type SubjectCounts = {
  readonly monitored: MonitoredSubject
  readonly recent: Map<number, Counted>
  unwritten: Map<number, Counted>
}

/** Counts decisions in memory: those not yet written, and the recent ones of this node. */
export type DecisionCounter = {
  count(monitored: MonitoredSubject, minute: number, isDenied: boolean): void
  /** The sum of the current window on this node. */
  recent(monitored: MonitoredSubject, minute: number): DenialCount
  /** Returns the unwritten counts and clears them. */
  takeUnwritten(): readonly MinuteCount[]
  /** Restores counts that could not be written. */
  putBack(counts: readonly MinuteCount[]): void
  /** Evicts minutes before this one. */
  evictBefore(minute: number): void
}

/** By organization, subject and version. */
type CountsByOrganization = Map<string, Map<string, Map<number, SubjectCounts>>>

export function createDecisionCounter(): DecisionCounter {
  const counters: CountsByOrganization = new Map()

  function countsOf({ organizationId, subject, version }: MonitoredSubject): SubjectCounts {
    const ofOrganization = getOrCreate(counters, organizationId, () => new Map<string, Map<number, SubjectCounts>>())
    const ofSubject = getOrCreate(ofOrganization, subject, () => new Map<number, SubjectCounts>())
    return getOrCreate(ofSubject, version, () => {
      return { monitored: { organizationId, subject, version }, recent: new Map(), unwritten: new Map() }
    })
  }

  function* all(): Generator<SubjectCounts> {
    for (const ofOrganization of counters.values())
      for (const ofSubject of ofOrganization.values()) yield* ofSubject.values()
  }

  return {
    count(monitored, minute, isDenied) {
      const { recent, unwritten } = countsOf(monitored)
      const one = isDenied ? denial : allowance
      add(recent, minute, one)
      add(unwritten, minute, one)
    },
    recent: (monitored, minute) => windowSum(countsOf(monitored).recent, minute),
    takeUnwritten() {
      const counts: MinuteCount[] = []
      for (const counter of all()) {
        for (const [minute, counted] of counter.unwritten) counts.push({ ...counter.monitored, minute, ...counted })
        counter.unwritten = new Map()
      }
      return counts
    },
    putBack(counts) {
      for (const { minute, ...count } of counts) add(countsOf(count).unwritten, minute, count)
    },
    evictBefore(minute) {
      for (const { monitored, recent, unwritten } of all()) {
        for (const at of recent.keys()) if (at < minute) recent.delete(at)
        if (recent.size === 0 && unwritten.size === 0) drop(counters, monitored)
      }
    },
  }
}

const denial: DenialCount = { requests: 1, denials: 1 }
const allowance: DenialCount = { requests: 1, denials: 0 }

function getOrCreate<Key, Value>(known: Map<Key, Value>, key: Key, create: () => Value): Value {
  const existing = known.get(key)
  if (existing !== undefined) return existing
  const created = create()
  known.set(key, created)
  return created
}

function drop(counters: CountsByOrganization, { organizationId, subject, version }: MonitoredSubject): void {
  const ofOrganization = counters.get(organizationId)
  const ofSubject = ofOrganization?.get(subject)
  ofSubject?.delete(version)
  if (ofSubject?.size === 0) ofOrganization?.delete(subject)
  if (ofOrganization?.size === 0) counters.delete(organizationId)
}

function add(counts: Map<number, Counted>, minute: number, { requests, denials }: DenialCount): void {
  const counted = counts.get(minute)
  if (counted === undefined) counts.set(minute, { requests, denials })
  else {
    counted.requests += requests
    counted.denials += denials
  }
}

function windowSum(recent: ReadonlyMap<number, DenialCount>, minute: number): DenialCount {
  let requests = 0
  let denials = 0
  for (const [at, counted] of recent) {
    if (at <= minute - windowMinutes) continue
    requests += counted.requests
    denials += counted.denials
  }
  return { requests, denials }
}
