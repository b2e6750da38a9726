import type { EventRange, LoggedEvent } from '../log.ts'
import type { Configuration } from './configuration.ts'
import type { Cursor } from './cursor.ts'
import type { RejectedEvent, DeliveryResult } from './delivery.ts'

/** A sink that this node alone may send to, for as long as its lease lasts. */
export type ClaimedSink = {
  readonly id: string
  readonly organizationId: string
  readonly type: string
  readonly label: string
  readonly version: number
  /** Its configuration with its secrets; throws where they do not open, as under another secret of the server. */
  readonly openConfig: () => Configuration
  readonly cursor: Cursor
  /** The part of the log that is there. */
  readonly firstSequence: number
  readonly headSequence: number
}

/** What became of dead letters that were sent again. */
export type DeadLetterReplay = {
  readonly delivered: readonly number[]
  readonly rejected: readonly Omit<RejectedEvent, 'id'>[]
}

/** What senders read and write. Leases and cursors are as durable as the log: a killed sender loses nothing. */
export type DeliveryStore = {
  /** Sinks that have something to send and need not wait, and that nobody else is sending to. */
  due(limit: number): Promise<readonly string[]>
  /** Undefined where another node was first, or the sink is gone or switched off. */
  claim(sinkId: string): Promise<ClaimedSink | undefined>
  /** False where the lease is lost. */
  renew(sinkId: string): Promise<boolean>
  release(sinkId: string): Promise<void>
  events(organizationId: string, range: EventRange): Promise<readonly LoggedEvent[]>
  /** Writes down the end of the batch that is about to be sent. */
  plan(sink: ClaimedSink, last: number): Promise<boolean>
  /** Puts a healthy sink off until more has gathered. */
  postpone(sink: ClaimedSink, untilMs: number): Promise<void>
  /**
   * Moves the cursor, with the dead letters and the news that belong to it. False where the lease is lost or the sink
   * was changed meanwhile: then nothing is written, and the batch goes out again.
   */
  settle(sink: ClaimedSink, settlement: DeliveryResult): Promise<boolean>
  /** Dead letters that are to be sent again. Like `events`, it ends before one that is damaged, or rejects. */
  replays(sinkId: string, page: Pick<EventRange, 'limit' | 'withTexts'>): Promise<readonly LoggedEvent[]>
  settleReplays(sink: ClaimedSink, result: DeadLetterReplay): Promise<void>
}
