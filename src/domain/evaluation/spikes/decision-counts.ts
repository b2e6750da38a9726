import type { Sums } from './spike.ts'

/** One version of what decides: a policy, or the gateway configuration. */
export type MonitoredSubject = {
  readonly organizationId: string
  /** A policy's id, or `gateway`. */
  readonly subject: string
  readonly version: number
}

/** What one node has seen in one minute. */
export type MinuteCount = MonitoredSubject & {
  readonly minute: number
  readonly requests: number
  readonly denials: number
}

/** The counts of all nodes. */
export type DecisionCounts = {
  /** Adds to what is there. */
  add(counts: readonly MinuteCount[]): Promise<void>
  /** Forgets minutes before this one. */
  removeBefore(minute: number): Promise<void>
}

export type DecisionSums = {
  /**
   * The window that ends with this minute. It begins anew where a policy was resumed: that minute and all before it
   * belong to the past.
   */
  sums(watched: MonitoredSubject, minute: number): Promise<Sums>
}
