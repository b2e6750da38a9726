import type { CallerMinutes } from './active-callers.ts'
import type { RolloutArm } from './arms.ts'
import type { Sums } from './spike.ts'

/** One version of a policy or of the gateway configuration. */
export type MonitoredSubject = {
  readonly organizationId: string
  /** A policy's id, or `gateway`. */
  readonly subject: string
  readonly version: number
}

/** The counts of one node in one minute. */
export type MinuteCount = MonitoredSubject & {
  readonly minute: number
  /** Where it was enforced. */
  readonly requests: number
  readonly denials: number
  /** Where it was evaluated and not enforced: in monitoring, or outside of a rollout. */
  readonly recordedRequests: number
  readonly recordedDenials: number
}

/** A caller of one version on one node. */
export type CallerCount = MonitoredSubject & CallerMinutes

/** What a node has counted and not written yet. */
export type UnwrittenCounts = { readonly minutes: readonly MinuteCount[]; readonly callers: readonly CallerCount[] }

/** The counts of all nodes in one hour. */
export type HourCount = Omit<MinuteCount, 'minute' | 'organizationId'> & {
  /** Hours since 1970. */
  readonly hour: number
}

/** Reads the counts by the hour, which are kept for 92 days. */
export type DecisionHours = {
  /** From this hour on, in order. */
  hours(organizationId: string, subjects: readonly string[], fromHour: number): Promise<readonly HourCount[]>
}

/** Stores the counts of all nodes. */
export type DecisionCounts = {
  /** Adds to the stored counts. */
  add(counts: UnwrittenCounts): Promise<void>
  /** Deletes spikes that ended before this minute. */
  removeSpikesBefore(minute: number): Promise<void>
  /** Deletes callers whose last request is older. */
  removeCallersBefore(minute: number): Promise<void>
  /** Notes that a reported spike still lasts in this minute. */
  extendSpike(monitored: MonitoredSubject, minute: number): Promise<void>
}

export type DecisionSums = {
  /**
   * Sums of the window that ends with this minute. If a policy was resumed, the window starts after the minute of the
   * resumption.
   */
  sums(monitored: MonitoredSubject, minute: number): Promise<Sums>
}

/** Reads the sides of a rollout. */
export type RolloutArms = {
  /** In the last hour. */
  arms(monitored: MonitoredSubject, minute: number): Promise<readonly RolloutArm[]>
}

/** A spike of denials that was reported. */
export type ReportedSpike = {
  readonly subject: string
  readonly version: number
  readonly firstMinute: number
  /** The last minute in which it was detected. */
  readonly lastMinute: number
}

export type ReportedSpikes = {
  /** Spikes of an organization that were detected in this minute or later, the latest first. */
  recent(organizationId: string, sinceMinute: number): Promise<readonly ReportedSpike[]>
  findSpike(monitored: MonitoredSubject): Promise<ReportedSpike | undefined>
  /** Returns false if the spike is one that is reported already: one detected in this minute or the window before it. */
  report(monitored: MonitoredSubject, minute: number): Promise<boolean>
}
