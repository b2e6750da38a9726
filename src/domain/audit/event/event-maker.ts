import { createHmac } from 'node:crypto'
import type { Clock } from '../../../base/clock.ts'
import type { Ids } from '../../../base/ids.ts'
import { canonicalize } from './canonical.ts'
import type { AuditContent } from './content.ts'
import { createEvent, type AuditEvent } from './event.ts'
import type { ChainedDocument } from './document.ts'
import type { EventFacts } from './facts.ts'

/** Makes events of this installation, by whoever writes them. */
export type EventMaker = {
  /** The id is made here unless the event was announced under one before. */
  makeEvent(facts: EventFacts, id?: string): AuditEvent
  /**
   * Whether texts that are stored beside an event are the ones that it was written with. Undefined where the event was written
   * under another server secret, whose digests only that secret can check.
   */
  isContentOf(document: ChainedDocument, content: string, retired?: TextsKeys): boolean | undefined
  /** Names this installation in what it seals. */
  readonly authorityUid: string
}

export type EventMakerParts = {
  readonly clock: Clock
  readonly ids: Ids
  readonly productVersion: string
  /** Those in whose name events can be checked; new ones are made in the name of the first. */
  readonly authorities: () => readonly Authority[]
}

/** A server secret as events know it. */
export type Authority = {
  readonly uid: string
  /** Keys the digests of texts: short ones cannot be guessed from their digest. */
  readonly textsKey: Uint8Array
}

/** Keys of the digests of texts, by authority. */
export type TextsKeys = ReadonlyMap<string, Uint8Array>

export function createEventMaker({ clock, ids, authorities, ...parts }: EventMakerParts): EventMaker {
  const current = (): Authority => {
    const [first] = authorities()
    if (!first) throw new Error('nobody vouches for events')
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
    isContentOf({ metadata, unmapped, attestation_list: [attestation] }, content, retired) {
      const known = new Map([...(retired ?? []), ...authorities().map(({ uid, textsKey }) => [uid, textsKey] as const)])
      const digest = unmapped.gatehouse['content_digest']
      // An event may have waited on a disk while the secret was rotated: its texts are then of the secret before.
      const isOwn = [...known.values()].some((key) => digestOf(key, metadata.tenant_uid, content) === digest)
      return isOwn || (known.has(attestation.authority_uid) ? false : undefined)
    },
  }
}

const digestOf = (key: Uint8Array, organizationId: string, content: string): string =>
  createHmac('sha256', key).update(`${organizationId}\n${content}`).digest('hex')
