import { createHmac } from 'node:crypto'
import type { Clock } from '../../../base/clock.ts'
import type { Ids } from '../../../base/ids.ts'
import { canonicalize } from './canonical.ts'
import type { AuditContent } from './content.ts'
import { createEvent, type AuditEvent } from './event.ts'
import type { ChainedDocument } from './document.ts'
import type { EventFacts } from './facts.ts'

/** Creates the events of this installation. */
export type EventMaker = {
  /** Creates the id, unless the caller of the API already got one for this event. */
  makeEvent(facts: EventFacts, id?: string): AuditEvent
  /** Names this installation in the events that it appends. */
  readonly authorityUid: string
}

export type EventMakerParts = {
  readonly clock: Clock
  readonly ids: Ids
  readonly productVersion: string
  /** Server secrets whose events can be verified; new events use the first one. */
  readonly authorities: () => readonly Authority[]
}

/** What events need of a server secret. */
export type Authority = {
  readonly uid: string
  /** Key for the digests of texts. A keyed digest keeps short texts from being guessed. */
  readonly textsKey: Uint8Array
}

/** Keys for the digests of texts, by authority. */
export type TextsKeys = ReadonlyMap<string, Uint8Array>

export function createEventMaker({ clock, ids, authorities, ...parts }: EventMakerParts): EventMaker {
  const current = (): Authority => {
    const [first] = authorities()
    if (!first) throw new Error('there is no server secret to create events with')
    return first
  }
  const digestContent = (organizationId: string, content: AuditContent): string =>
    digestOf(current().textsKey, organizationId, canonicalize(content))
  return {
    get authorityUid() {
      return current().uid
    },
    makeEvent: (facts, id = ids('evt')) =>
      createEvent(facts, { id, loggedMs: clock.nowMs(), productVersion: parts.productVersion, digestContent }),
  }
}

/**
 * Whether the stored texts of an event are the ones that it was written with. Undefined if the event was written under another
 * server secret, because its digest can only be verified with that secret.
 */
export function isContentOf(
  { metadata, unmapped, attestation_list: [attestation] }: ChainedDocument,
  content: string,
  keys: TextsKeys,
): boolean | undefined {
  const digest = unmapped.gatehouse['content_digest']
  // If the secret was rotated while the event waited in the spool, its digest was made with the previous secret.
  const isOwn = [...keys.values()].some((key) => digestOf(key, metadata.tenant_uid, content) === digest)
  return isOwn || (keys.has(attestation.authority_uid) ? false : undefined)
}

const digestOf = (key: Uint8Array, organizationId: string, content: string): string =>
  createHmac('sha256', key).update(`${organizationId}\n${content}`).digest('hex')
