import type { EventRange, LoggedEvent } from '../log.ts'
import type { Configuration } from './configuration.ts'
import type { Cursor } from './cursor.ts'
import type { RejectedEvent, DeliveryResult } from './delivery.ts'

/** A sink that only this node may send to, until its lease ends. */
export type ClaimedSink = {
  readonly id: string
  readonly organizationId: string
  readonly type: string
  readonly label: string
  readonly version: number
  /** Its configuration with decrypted secrets. Throws if they cannot be decrypted, as with another server secret. */
  readonly openConfig: () => Configuration
  readonly cursor: Cursor
  /** The range of sequences that the log holds. */
  readonly firstSequence: number
  readonly headSequence: number
}

/** The outcome of dead letters that were sent again. */
export type DeadLetterReplay = {
  readonly delivered: readonly number[]
  readonly rejected: readonly Omit<RejectedEvent, 'id'>[]
}

/** The store of the senders. Leases and cursors are as durable as the log, so a killed sender loses nothing. */
export type DeliveryStore = {
  /** Ids of sinks that have events to send, are not waiting for a retry, and are not leased. */
  due(limit: number): Promise<readonly string[]>
  /** Undefined if another node has the lease, or the sink was deleted or disabled. */
  claim(sinkId: string): Promise<ClaimedSink | undefined>
  /** False if the lease is lost. */
  renew(sinkId: string): Promise<boolean>
  release(sinkId: string): Promise<void>
  events(organizationId: string, range: EventRange): Promise<readonly LoggedEvent[]>
  /** Stores the end of the batch that is about to be sent. False if the lease is lost. */
  plan(sink: ClaimedSink, last: number): Promise<boolean>
  /** Delays a healthy sink until more events have gathered. */
  postpone(sink: ClaimedSink, untilMs: number): Promise<void>
  /**
   * Stores the cursor, the dead letters and the sink events in one transaction. False if the lease is lost or the sink was
   * changed meanwhile: then nothing is written, and the batch is sent again.
   */
  settle(sink: ClaimedSink, settlement: DeliveryResult): Promise<boolean>
  /** Dead letters that are to be sent again. Like `events`, it ends before a damaged event, or rejects if that is the first. */
  replays(sinkId: string, page: Pick<EventRange, 'limit' | 'withTexts'>): Promise<readonly LoggedEvent[]>
  settleReplays(sink: ClaimedSink, result: DeadLetterReplay): Promise<void>
}
