import type { Page, Paged } from '../../identity/store.ts'
import type { Configuration, Secrets } from './configuration.ts'
import type { SinkState } from './cursor.ts'

/** A configured destination of audit events. `config` has masks in place of its secrets. */
export type ExportSink = {
  readonly id: string
  readonly organizationId: string
  readonly type: string
  readonly label: string
  readonly enabled: boolean
  readonly config: Configuration
  /** Incremented by every change, so that a sender knows when to open the sink again. */
  readonly version: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** The state of a sink and of its backlog. */
export type SinkHealth = {
  readonly state: SinkState | 'disabled'
  /** Events that were not sent yet, including those that its filter will exclude. */
  readonly backlogEvents: number
  readonly oldestUnsentAtMs: number | null
  /** Time of the next attempt; null if the sink is not waiting for a retry. */
  readonly nextAttemptAtMs: number | null
  readonly deadLetters: number
  readonly lastSuccessAtMs: number | null
  readonly lastErrorAtMs: number | null
  readonly lastError: string | null
  /** Null for a sink of events. */
  readonly costFiles: CostFileHealth | null
}

/** Days are their start in UTC, Unix seconds. */
export type CostFileHealth = {
  /** Days whose file is written. */
  readonly count: number
  readonly lastDay: number | null
  readonly lastDayWithoutTags: number | null
}

export type WatchedSink = ExportSink & { readonly health: SinkHealth }

/** An event that the destination rejected for good. */
export type DeadLetter = {
  /** The event's id. */
  readonly id: string
  readonly sequence: number
  readonly reason: string
  readonly atMs: number
  readonly attempts: number
  /** A replay was requested and has not happened yet. */
  readonly isReplaying: boolean
}

/** Where a new sink starts: at the end of the log, or at the oldest event that is retained. */
export const sinkStarts = ['now', 'retained'] as const
export type SinkStart = (typeof sinkStarts)[number]

/** The store of sink administration. */
export type ExportStore = {
  /** `start`: with the next event (`now`), or with the oldest one that the log holds (`retained`). */
  insert(sink: ExportSink, secrets: Secrets, start: SinkStart): Promise<void>
  /** Replaces the editable fields if the version is unchanged, and retries a paused sink. False if it was changed meanwhile. */
  replace(sink: ExportSink, secrets: Secrets): Promise<boolean>
  remove(sink: ExportSink, atMs: number): Promise<boolean>
  find(organizationId: string, id: string): Promise<WatchedSink | undefined>
  list(organizationId: string, page: Page): Promise<Paged<WatchedSink>>
  count(organizationId: string): Promise<number>
  secretsOf(sink: ExportSink): Promise<Secrets>
  listDeadLetters(sink: ExportSink, page: Page): Promise<Paged<DeadLetter>>
  /** Requests a replay of these dead letters, or of all; returns how many. */
  replay(sink: ExportSink, ids: readonly string[] | undefined): Promise<number>
}
