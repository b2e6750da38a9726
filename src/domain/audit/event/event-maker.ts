import { createHmac } from 'node:crypto'
import type { Clock } from '../../../base/clock.ts'
import type { Ids } from '../../../base/ids.ts'
import { canonicalize } from '../document/canonical.ts'
import type { AuditContent } from '../content/content.ts'
import { createEvent, type AuditEvent } from './event.ts'
import type { SealedDocument } from '../document/document.ts'
import type { EventFacts } from '../facts/facts.ts'

/** Makes events of this installation, by whoever writes them. */
export type EventMaker = {
  /** The id is made here unless the event was announced under one before. */
  makeEvent(facts: EventFacts, id?: string): AuditEvent
  /**
   * Whether texts that are stored beside an event are the ones that it was written with. Undefined where the event was written
   * under another server secret, whose digests only that secret can check.
   */
  isContentOf(document: SealedDocument, content: string): boolean | undefined
  /** Names this installation in what it seals. */
  readonly authorityUid: string
}

export type EventMakerParts = {
  readonly clock: Clock
  readonly ids: Ids
  readonly authorityUid: string
  readonly productVersion: string
  /** Keys the digests of texts: short ones cannot be guessed from their digest. */
  readonly digestKey: Uint8Array
}

export function createEventMaker({ clock, ids, digestKey, ...parts }: EventMakerParts): EventMaker {
  const digestOf = (organizationId: string, content: string): string =>
    createHmac('sha256', digestKey).update(`${organizationId}\n${content}`).digest('hex')
  const digestContent = (organizationId: string, content: AuditContent): string =>
    digestOf(organizationId, canonicalize(content))
  return {
    authorityUid: parts.authorityUid,
    makeEvent: (facts, id = ids('evt')) =>
      createEvent(facts, { id, loggedMs: clock.nowMs(), productVersion: parts.productVersion, digestContent }),
    isContentOf({ metadata, unmapped, attestation_list: [attestation] }, content) {
      if (attestation.authority_uid !== parts.authorityUid) return undefined
      return digestOf(metadata.tenant_uid, content) === unmapped.gatehouse['content_digest']
    },
  }
}
