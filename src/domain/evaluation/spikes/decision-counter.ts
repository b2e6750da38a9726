import { isDenial } from '../../audit/event/verdict.ts'
import type { Decision } from '../verdict/combine.ts'
import { countedSubject } from './counted-decisions.ts'
import type { MinuteCount, MonitoredSubject } from './decision-counts.ts'
import { windowMinutes, type DenialCount } from './spike.ts'

/** The decisions of one minute: all enforced ones, and those that are not written yet. */
type Counted = {
  requests: number
  denials: number
  unwrittenRequests: number
  unwrittenDenials: number
  unwrittenRecordedRequests: number
  unwrittenRecordedDenials: number
}

/** The counts of one version on this node, per minute. */
type SubjectCounts = {
  readonly monitored: MonitoredSubject
  readonly minutes: Map<number, Counted>
  /** The minute that was counted last, so that most decisions need no lookup of it. */
  latest: { readonly minute: number; readonly counted: Counted } | undefined
}

/** Counts decisions in memory: those not yet written, and the recent ones of this node. */
export type DecisionCounter = {
  /** Counts the decisions on one request. Returns the subjects of the enforced denials. */
  count(organizationId: string, minute: number, decisions: readonly Decision[]): readonly MonitoredSubject[]
  /** The sum of what was enforced in the current window on this node. */
  recent(monitored: MonitoredSubject, minute: number): DenialCount
  /** Returns the unwritten counts and clears them. */
  takeUnwritten(): readonly MinuteCount[]
  /** Restores counts that could not be written. */
  putBack(counts: readonly MinuteCount[]): void
  /** Evicts minutes before this one. */
  evictBefore(minute: number): void
}

/** By subject and version. */
type CountsBySubject = Map<string, Map<number, SubjectCounts>>

export function createDecisionCounter(): DecisionCounter {
  const counters = new Map<string, CountsBySubject>()

  function countsOf(monitored: MonitoredSubject): SubjectCounts {
    const { organizationId, subject, version } = monitored
    const ofOrganization: CountsBySubject = counters.get(organizationId) ?? new Map()
    const ofSubject = ofOrganization.get(subject) ?? new Map<number, SubjectCounts>()
    const counts = ofSubject.get(version) ?? { monitored, minutes: new Map(), latest: undefined }
    counters.set(organizationId, ofOrganization.set(subject, ofSubject.set(version, counts)))
    return counts
  }

  /** Runs for every policy on every request, so a subject that is known allocates nothing. */
  function countOne(organizationId: string, minute: number, decision: Decision): SubjectCounts | undefined {
    const subject = countedSubject(decision)
    const { version } = decision
    if (subject === undefined || version === null) return undefined
    const known = counters.get(organizationId)?.get(subject)?.get(version)
    const counts = known ?? countsOf({ organizationId, subject, version })
    const counted = minuteOf(counts, minute)
    const denials = isDenial(decision.decision) ? 1 : 0
    if (!decision.isEnforced) {
      counted.unwrittenRecordedRequests += 1
      counted.unwrittenRecordedDenials += denials
      return undefined
    }
    counted.requests += 1
    counted.denials += denials
    counted.unwrittenRequests += 1
    counted.unwrittenDenials += denials
    return denials === 0 ? undefined : counts
  }

  function* all(): Generator<SubjectCounts> {
    for (const ofOrganization of counters.values())
      for (const ofSubject of ofOrganization.values()) yield* ofSubject.values()
  }

  return {
    count(organizationId, minute, decisions) {
      let denied: MonitoredSubject[] | undefined
      for (const decision of decisions) {
        const counts = countOne(organizationId, minute, decision)
        if (counts !== undefined) (denied ??= []).push(counts.monitored)
      }
      return denied ?? none
    },
    recent: (monitored, minute) => windowSum(countsOf(monitored).minutes, minute),
    takeUnwritten() {
      const taken: MinuteCount[] = []
      for (const { monitored, minutes } of all()) {
        for (const [minute, counted] of minutes) {
          if (!isUnwritten(counted)) continue
          taken.push({
            ...monitored,
            minute,
            requests: counted.unwrittenRequests,
            denials: counted.unwrittenDenials,
            recordedRequests: counted.unwrittenRecordedRequests,
            recordedDenials: counted.unwrittenRecordedDenials,
          })
          counted.unwrittenRequests = 0
          counted.unwrittenDenials = 0
          counted.unwrittenRecordedRequests = 0
          counted.unwrittenRecordedDenials = 0
        }
      }
      return taken
    },
    putBack(counts) {
      for (const { minute, requests, denials, recordedRequests, recordedDenials, ...monitored } of counts) {
        const counted = minuteOf(countsOf(monitored), minute)
        counted.unwrittenRequests += requests
        counted.unwrittenDenials += denials
        counted.unwrittenRecordedRequests += recordedRequests
        counted.unwrittenRecordedDenials += recordedDenials
      }
    },
    evictBefore(minute) {
      for (const counts of all()) {
        const { monitored, minutes } = counts
        for (const [at, counted] of minutes) if (at < minute && !isUnwritten(counted)) minutes.delete(at)
        if (counts.latest !== undefined && counts.latest.minute < minute) counts.latest = undefined
        if (minutes.size === 0) drop(counters, monitored)
      }
    },
  }
}

const none: readonly never[] = []

const isUnwritten = ({ unwrittenRequests, unwrittenRecordedRequests }: Counted): boolean =>
  unwrittenRequests > 0 || unwrittenRecordedRequests > 0

function minuteOf(counts: SubjectCounts, minute: number): Counted {
  if (counts.latest?.minute === minute) return counts.latest.counted
  const counted = counts.minutes.get(minute) ?? newCounted()
  counts.minutes.set(minute, counted)
  counts.latest = { minute, counted }
  return counted
}

function newCounted(): Counted {
  return {
    requests: 0,
    denials: 0,
    unwrittenRequests: 0,
    unwrittenDenials: 0,
    unwrittenRecordedRequests: 0,
    unwrittenRecordedDenials: 0,
  }
}

function drop(counters: Map<string, CountsBySubject>, { organizationId, subject, version }: MonitoredSubject): void {
  const ofOrganization = counters.get(organizationId)
  const ofSubject = ofOrganization?.get(subject)
  ofSubject?.delete(version)
  if (ofSubject?.size === 0) ofOrganization?.delete(subject)
  if (ofOrganization?.size === 0) counters.delete(organizationId)
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
