import { isDenial } from '../../audit/event/verdict.ts'
import type { Decision } from '../verdict/combine.ts'
import {
  createActiveCallers,
  digestedCaller,
  type ActiveCallers,
  type DecisionCaller,
  type DigestedCaller,
} from './active-callers.ts'
import { countedSubject } from './counted-decisions.ts'
import type { CallerCount, MinuteCount, MonitoredSubject, UnwrittenCounts } from './decision-counts.ts'

/** The decisions of one minute that are not written yet. */
type Counted = {
  unwrittenRequests: number
  unwrittenDenials: number
  unwrittenRecordedRequests: number
  unwrittenRecordedDenials: number
}

/** The counts of one version on this node, per minute. */
type SubjectCounts = {
  readonly monitored: MonitoredSubject
  readonly minutes: Map<number, Counted>
  readonly callers: ActiveCallers
  /** The minute that was counted last, so that most decisions need no lookup of it. */
  latest: { readonly minute: number; readonly counted: Counted } | undefined
}

/** The decisions on one request, one per rule. */
export type CountedRequest = {
  readonly organizationId: string
  readonly caller: DecisionCaller
  readonly decisions: readonly Decision[]
}

/** Counts decisions in memory until they are written. */
export type DecisionCounter = {
  /** Counts the decisions on one request. Returns the subjects of the enforced denials. */
  count(request: CountedRequest, minute: number): readonly MonitoredSubject[]
  /** Returns the unwritten counts and clears them. */
  takeUnwritten(): UnwrittenCounts
  /** Restores counts that could not be written. */
  putBack(counts: UnwrittenCounts): void
  /** Evicts minutes, and callers that were last active, before this one. */
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
    const counts = ofSubject.get(version) ?? newCounts(monitored)
    counters.set(organizationId, ofOrganization.set(subject, ofSubject.set(version, counts)))
    return counts
  }

  /** Runs for every policy on every request, so a subject that is known allocates nothing. */
  function countOne(decision: Decision, { organizationId, caller, minute }: Counting): SubjectCounts | undefined {
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
      // Those that an exception lets through are on neither side.
      if (decision.rollout !== undefined && decision.exceptionId === undefined)
        counts.callers.count(caller, minute, { isDenial: denials > 0, isEnforced: false })
      return undefined
    }
    counted.unwrittenRequests += 1
    counted.unwrittenDenials += denials
    counts.callers.count(caller, minute, { isDenial: denials > 0, isEnforced: true })
    return denials === 0 ? undefined : counts
  }

  function* all(): Generator<SubjectCounts> {
    for (const ofOrganization of counters.values())
      for (const ofSubject of ofOrganization.values()) yield* ofSubject.values()
  }

  return {
    count({ organizationId, caller, decisions }, minute) {
      let denied: MonitoredSubject[] | undefined
      const counting = { organizationId, minute, caller: digestedCaller(caller) }
      for (const decision of decisions) {
        const counts = countOne(decision, counting)
        if (counts !== undefined) (denied ??= []).push(counts.monitored)
      }
      return denied ?? none
    },
    takeUnwritten() {
      const minutes: MinuteCount[] = []
      const callers: CallerCount[] = []
      for (const counts of all()) {
        minutes.push(...takeMinutes(counts))
        for (const caller of counts.callers.takeUnwritten()) callers.push({ ...counts.monitored, ...caller })
      }
      return { minutes, callers }
    },
    putBack({ minutes, callers }) {
      for (const { minute, requests, denials, recordedRequests, recordedDenials, ...monitored } of minutes) {
        const counted = minuteOf(countsOf(monitored), minute)
        counted.unwrittenRequests += requests
        counted.unwrittenDenials += denials
        counted.unwrittenRecordedRequests += recordedRequests
        counted.unwrittenRecordedDenials += recordedDenials
      }
      for (const { organizationId, subject, version, ...caller } of callers)
        countsOf({ organizationId, subject, version }).callers.putBack([caller])
    },
    evictBefore(minute) {
      for (const counts of all()) {
        const { monitored, minutes, callers } = counts
        for (const [at, counted] of minutes) if (at < minute && !isUnwritten(counted)) minutes.delete(at)
        if (counts.latest !== undefined && counts.latest.minute < minute) counts.latest = undefined
        callers.evictBefore(minute)
        if (minutes.size === 0 && callers.isEmpty()) drop(counters, monitored)
      }
    },
  }
}

const none: readonly never[] = []

type Counting = { readonly organizationId: string; readonly minute: number; readonly caller: DigestedCaller }

const newCounts = (monitored: MonitoredSubject): SubjectCounts => ({
  monitored,
  minutes: new Map(),
  callers: createActiveCallers(),
  latest: undefined,
})

function* takeMinutes({ monitored, minutes }: SubjectCounts): Generator<MinuteCount> {
  for (const [minute, counted] of minutes) {
    if (!isUnwritten(counted)) continue
    yield {
      ...monitored,
      minute,
      requests: counted.unwrittenRequests,
      denials: counted.unwrittenDenials,
      recordedRequests: counted.unwrittenRecordedRequests,
      recordedDenials: counted.unwrittenRecordedDenials,
    }
    Object.assign(counted, newCounted())
  }
}

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
