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
  readonly requests: number
  readonly denials: number
}

/** Stores the counts of all nodes. */
export type DecisionCounts = {
  /** Adds to the stored counts. */
  add(counts: readonly MinuteCount[]): Promise<void>
  /** Deletes minutes before this one. */
  removeBefore(minute: number): Promise<void>
}

export type DecisionSums = {
  /**
   * Sums of the window that ends with this minute. If a policy was resumed, the window starts after the minute of the
   * resumption.
   */
  sums(monitored: MonitoredSubject, minute: number): Promise<Sums>
}
