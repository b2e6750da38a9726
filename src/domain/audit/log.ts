import type { Page, Paged } from '../identity/store.ts'
import type { ChainPoint } from './chain/chain.ts'
import type { SignedCheckpoint } from './chain/checkpoint.ts'
import type { AuditContent } from './event/content.ts'
import type { ChainedDocument } from './event/document.ts'
import type { AuditEvent } from './event/event.ts'
import type { EventFacts } from './event/facts.ts'
import type { ChainedEvent } from './chain/chained-event.ts'

/** The port that appends events to the log. */
export type AuditAppender = {
  /**
   * Appends events of one organization in order, all of them or none; resolves once they are durable. Set `mayRepeat` for a
   * second attempt whose first may have succeeded: events that the log already has are skipped. With no events it only
   * tests the log, and rejects if it cannot be written.
   */
  append(organizationId: string, events: readonly AuditEvent[], mayRepeat?: boolean): Promise<void>
}

/** Appends inside the transaction of a mutation. */
export type EventLog = { append(facts: EventFacts): Promise<void> }

/** An event of the log with the texts that are still stored; texts of requests only if `withTexts` is set. */
export type LoggedEvent = {
  readonly id: string
  readonly sequence: number
  readonly document: ChainedDocument
  /** Characters of its document. */
  readonly size: number
  /** Characters of its texts. */
  readonly contentSize: number
  readonly content?: AuditContent | undefined
}

/** Thrown for a row that is not a valid event: somebody wrote to the table, or the disk is failing. */
export class DamagedEvent extends Error {
  readonly sequence: number

  constructor(sequence: number) {
    super(`event ${sequence} of the audit log is damaged; run gatehouse audit verify`)
    this.name = 'DamagedEvent'
    this.sequence = sequence
  }
}

/** All given conditions must hold. */
export type AuditFilter = {
  /** First segment of the code. */
  readonly family?: string
  readonly code?: string
  /** Leaves the events of requests out. */
  readonly withoutRequests?: boolean
  /** Leaves out the signatures of the log, of which there is one each minute with events. */
  readonly withoutCheckpoints?: boolean
  readonly decision?: string
  readonly projectId?: string
  readonly policyId?: string
  readonly userId?: string
  readonly requestId?: string
  /** Id of the key or token. */
  readonly actorId?: string
  /** The object that a change is about. */
  readonly resourceId?: string
  readonly fromMs?: number
  /** Exclusive. */
  readonly toMs?: number
}

/** What requests are filtered by. A `model` that ends with `*` is the start of a name. */
export type RequestField =
  | 'decision'
  | 'status'
  | 'model'
  | 'projectId'
  | 'policyId'
  | 'actorId'
  | 'userId'
  | 'reasonCode'
  | 'errorCode'
  | 'category'

export type RequestValues = { readonly [Field in RequestField]?: readonly string[] }

/** A filter of requests. All given conditions must hold. */
export type RequestFilter = Pick<AuditFilter, 'fromMs' | 'toMs'> & {
  /** Each of these fields has one of its values. */
  readonly is?: RequestValues
  /** None of these fields has one of its values. A request without the field matches. */
  readonly isNot?: RequestValues
  readonly search?: RequestSearch
  readonly minMs?: number
  readonly minCostMicroUsd?: number
}

/** A text in any field of a request. Events hold ids, so those of what has the text in its name are given as well. */
export type RequestSearch = {
  readonly text: string
  readonly projectIds: readonly string[]
  readonly policyIds: readonly string[]
  readonly actorIds: readonly string[]
}

/** A page of requests. */
export type RequestPage = Paged<LoggedEvent> & {
  /** Where the next page starts, if the search stopped before the page was full. */
  readonly nextAfter?: string
}

export type RequestCount = {
  readonly count: number
  /** False if there may be more. */
  readonly isExact: boolean
}

export type NewRequestQuery = {
  readonly filter: RequestFilter
  readonly after: number | undefined
  /** Most items. */
  readonly limit: number
}

export type NewRequests = {
  readonly count: number
  readonly items: readonly LoggedEvent[]
  readonly sequence: number
}

/** Sequences greater than `after` and up to `last`, in order. */
export type EventRange = {
  readonly after: number
  readonly last?: number | undefined
  readonly limit: number
  /** Include the texts of requests. */
  readonly withTexts?: boolean
}

/** A row as stored, for verification. `content` holds its texts as stored. */
export type StoredEvent = ChainedEvent & { readonly content: string | null }

/** The state of a chain, without its events. */
export type ChainState = {
  readonly head: ChainPoint
  readonly firstSequence: number
  /** Oldest first. The first one is where retention cut the log, or the first that was ever signed. */
  readonly checkpoints: readonly SignedCheckpoint[]
}

/** A key as the database lists it; `publicKey` is PEM. Verification never trusts it, because everyone who can write the database can change it. */
export type PublishedKey = {
  readonly id: string
  readonly publicKey: string
  readonly createdAtMs: number
  /** The key for text digests of that server secret, encrypted with the current one; null while it is not needed. */
  readonly textsKey: Uint8Array | null
}

export type Fingerprints = {
  readonly chainUid: string
  /** Sequences of the first and the last event that the log holds. */
  readonly first: number
  readonly last: number
  readonly at: readonly (readonly [sequence: number, fingerprint: string])[]
}

/** Where an event is in its chain. */
export type ChainContext = {
  /** Of the event and its neighbours, by sequence. */
  readonly fingerprints: ReadonlyMap<number, string>
  /** The first checkpoint at or after the event; null until one is signed. */
  readonly checkpoint: SignedCheckpoint | null
}

export type FirstRequest = {
  readonly timeMs: number
  /** True if retention removed events from the start of the log. */
  readonly isTrimmed: boolean
}

export type AuditReads = {
  list(organizationId: string, filter: AuditFilter, page: Page): Promise<Paged<LoggedEvent>>
  find(organizationId: string, id: string): Promise<LoggedEvent | undefined>
  /** Events of requests. A filter without an index ends after a number of events, however few requests match it. */
  listRequests(organizationId: string, filter: RequestFilter, page: Page): Promise<RequestPage>
  /** The first request of a period; undefined if there is none. */
  firstRequest(
    organizationId: string,
    period: Pick<RequestFilter, 'fromMs' | 'toMs'>,
  ): Promise<FirstRequest | undefined>
  /** Counts requests up to `most`. */
  countRequests(organizationId: string, filter: RequestFilter, most: number): Promise<RequestCount>
  /**
   * How many requests match after a sequence, the newest of them, newest first, and the last sequence of the log. Without
   * `after`, none.
   */
  newRequests(organizationId: string, query: NewRequestQuery): Promise<NewRequests>
  /** The event of a request with its texts; the latest, if it was corrected. */
  findRequest(organizationId: string, requestId: string): Promise<LoggedEvent | undefined>
  chainContext(organizationId: string, sequence: number): Promise<ChainContext>
  /** Ends before the first damaged event; rejects with `DamagedEvent` if that is the first of the range. */
  events(organizationId: string, range: EventRange): Promise<readonly LoggedEvent[]>
  rows(organizationId: string, range: EventRange): Promise<readonly StoredEvent[]>
  /** Undefined if the organization has no event yet. */
  chainState(organizationId: string): Promise<ChainState | undefined>
  /** The range that the log holds, and the fingerprints after `after` and up to `last`. */
  fingerprints(organizationId: string, range: { readonly after: number; readonly last: number }): Promise<Fingerprints>
  /** Checkpoints with a handover from one key to another, oldest first. */
  handovers(organizationId: string): Promise<readonly SignedCheckpoint[]>
  keys(): Promise<readonly PublishedKey[]>
}

/** The texts of events. They can be erased: the chain holds only their digests and stays valid. */
export type AuditTexts = {
  /** Erases the stored texts of a request; returns how many events had texts. */
  erase(organizationId: string, requestId: string): Promise<number>
}
