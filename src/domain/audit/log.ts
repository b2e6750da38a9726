import type { Page, Paged } from '../identity/store.ts'
import type { ChainPoint } from './chain/chain.ts'
import type { SignedCheckpoint } from './chain/checkpoint.ts'
import type { AuditContent } from './event/content.ts'
import type { ChainedDocument } from './event/document.ts'
import type { AuditEvent } from './event/event.ts'
import type { EventFacts } from './event/facts.ts'
import type { ChainedEvent } from './chain/chained-event.ts'

/** Where events are written. */
export type AuditAppender = {
  /**
   * Appends events of one organization in order, all of them or none; resolves once they are durable. `mayRepeat` is
   * for a second try whose first may have succeeded: events that are there already are then left out. Without events it
   * adds nothing, and rejects where the log cannot be written.
   */
  append(organizationId: string, events: readonly AuditEvent[], mayRepeat?: boolean): Promise<void>
}

/** The same inside a transaction, which changes more than the log. */
export type EventLog = { append(facts: EventFacts): Promise<void> }

/** An event as it is read, with the texts that are still kept beside it; those of a request only where they are asked for. */
export type LoggedEvent = {
  readonly id: string
  readonly sequence: number
  readonly document: ChainedDocument
  /** Of its document, in characters. */
  readonly size: number
  /** Of what was read beside it. */
  readonly contentSize: number
  readonly content?: AuditContent | undefined
}

/** Thrown for a row that holds no event any more: somebody wrote into the table, or its disk is failing. */
export class DamagedEvent extends Error {
  readonly sequence: number

  constructor(sequence: number) {
    super(`event ${sequence} of the audit log is damaged; gatehouse audit verify tells more`)
    this.name = 'DamagedEvent'
    this.sequence = sequence
  }
}

/** Every condition that is given must hold. */
export type AuditFilter = {
  /** The first word of the code. */
  readonly family?: string
  readonly code?: string
  readonly decision?: string
  readonly projectId?: string
  readonly policyId?: string
  readonly userId?: string
  readonly requestId?: string
  readonly fromMs?: number
  /** Before this time. */
  readonly toMs?: number
}

/** Behind `after` and up to `last`, in order. */
export type EventRange = {
  readonly after: number
  readonly last?: number | undefined
  readonly limit: number
  /** Also the texts of requests. */
  readonly withTexts?: boolean
}

/** A row as it is stored, for those who check it. `content` is the text beside it, as it is stored. */
export type StoredEvent = ChainedEvent & { readonly content: string | null }

/** What is known of a chain besides its events. */
export type ChainState = {
  readonly head: ChainPoint
  readonly firstSequence: number
  /** Oldest first; the first of them stands where retention cut, or is the first there ever was. */
  readonly checkpoints: readonly SignedCheckpoint[]
}

/** What the database says of a key; `publicKey` is PEM. Anybody who can write the database can write this, so no verification trusts it. */
export type PublishedKey = {
  readonly id: string
  readonly publicKey: string
  readonly createdAtMs: number
  /** The key of the digests of texts of that server secret, encrypted with the current one; null while that is not needed. */
  readonly textsKey: Uint8Array | null
}

export type Fingerprints = {
  readonly chainUid: string
  /** Of the first event that is kept, and of the last. */
  readonly first: number
  readonly last: number
  readonly at: readonly (readonly [sequence: number, fingerprint: string])[]
}

export type AuditReads = {
  list(organizationId: string, filter: AuditFilter, page: Page): Promise<Paged<LoggedEvent>>
  find(organizationId: string, id: string): Promise<LoggedEvent | undefined>
  /** Ends before the first that is damaged; rejects where there is none before it. */
  events(organizationId: string, range: EventRange): Promise<readonly LoggedEvent[]>
  rows(organizationId: string, range: EventRange): Promise<readonly StoredEvent[]>
  /** Undefined where nothing ever happened. */
  chainState(organizationId: string): Promise<ChainState | undefined>
  /** What the log holds in all, and its fingerprints behind `after` and up to `last`. */
  fingerprints(organizationId: string, range: { readonly after: number; readonly last: number }): Promise<Fingerprints>
  /** Checkpoints in which one key hands over to another, oldest first. */
  handovers(organizationId: string): Promise<readonly SignedCheckpoint[]>
  keys(): Promise<readonly PublishedKey[]>
}

/** The texts beside events, which may be erased: the chain holds digests of them and stays whole. */
export type AuditTexts = {
  /** Erases what is kept of a request's prompt and answer; answers how many events had texts. */
  erase(organizationId: string, requestId: string): Promise<number>
}
