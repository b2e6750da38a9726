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

/** The counts of all nodes in one hour. */
export type HourCount = Omit<MinuteCount, 'minute' | 'organizationId'> & {
  /** Hours since 1970. */
  readonly hour: number
}

/** Reads the counts by the hour, which are kept for 30 days. */
export type DecisionHours = {
  /** From this hour on, in order. */
  hours(organizationId: string, subjects: readonly string[], fromHour: number): Promise<readonly HourCount[]>
}

/** Stores the counts of all nodes. */
export type DecisionCounts = {
  /** Adds to the stored counts. */
  add(counts: readonly MinuteCount[]): Promise<void>
  /** Deletes minutes before this one. */
  removeBefore(minute: number): Promise<void>
  removeHoursBefore(hour: number): Promise<void>
}

export type DecisionSums = {
  /**
   * Sums of the window that ends with this minute. If a policy was resumed, the window starts after the minute of the
   * resumption.
   */
  sums(monitored: MonitoredSubject, minute: number): Promise<Sums>
}
