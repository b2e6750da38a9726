import type { Page, Paged } from '../../identity/store.ts'
import type { Configuration, Secrets } from './configuration.ts'
import type { SinkState } from './cursor.ts'

/** A destination of the audit log. `config` has masks in the places of its secrets. */
export type ExportSink = {
  readonly id: string
  readonly organizationId: string
  readonly type: string
  readonly label: string
  readonly enabled: boolean
  readonly config: Configuration
  /** Counts up with every change: whoever has it open knows when to open it anew. */
  readonly version: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** How a sink is doing. */
export type SinkHealth = {
  readonly state: SinkState | 'disabled'
  /** Events that it has not got yet; those that its filter will leave out are among them. */
  readonly backlogEvents: number
  readonly oldestUnsentAtMs: number | null
  /** When it is tried again; null where nothing stands in the way. */
  readonly nextAttemptAtMs: number | null
  readonly deadLetters: number
  readonly lastSuccessAtMs: number | null
  readonly lastErrorAtMs: number | null
  readonly lastError: string | null
}

export type WatchedSink = ExportSink & { readonly health: SinkHealth }

/** An event that a destination will never take. */
export type DeadLetter = {
  /** The event's. */
  readonly id: string
  readonly sequence: number
  readonly reason: string
  readonly atMs: number
  readonly attempts: number
  /** Asked for, and not tried yet. */
  readonly isReplaying: boolean
}

/** Where a new sink starts: at the end of the log, or at the oldest event that is retained. */
export const sinkStarts = ['now', 'retained'] as const
export type SinkStart = (typeof sinkStarts)[number]

/** What administration of sinks reads and writes, each with the organization that it happens in. */
export type ExportStore = {
  /** `start` is the last event that it does not get. */
  insert(sink: ExportSink, secrets: Secrets, start: SinkStart): Promise<void>
  /** Replaces what can be changed, where the version is still the one before; what is paused is tried again. */
  replace(sink: ExportSink, secrets: Secrets): Promise<boolean>
  remove(sink: ExportSink, atMs: number): Promise<boolean>
  find(organizationId: string, id: string): Promise<WatchedSink | undefined>
  list(organizationId: string, page: Page): Promise<Paged<WatchedSink>>
  count(organizationId: string): Promise<number>
  secretsOf(sink: ExportSink): Promise<Secrets>
  listDeadLetters(sink: ExportSink, page: Page): Promise<Paged<DeadLetter>>
  /** Asks for these events to be sent again, or for all; answers how many that are. */
  replay(sink: ExportSink, ids: readonly string[] | undefined): Promise<number>
}
