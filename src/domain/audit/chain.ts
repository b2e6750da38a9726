import { canonicalize } from './canonical.ts'
import type { Attestation, AuditDocument } from './document.ts'
import { fingerprintOfText, rowOf, sha256, type SealedEvent } from './sealed.ts'

/** A place in a chain: the event of this sequence had this fingerprint. */
export type ChainPoint = { readonly chainUid: string; readonly sequence: number; readonly fingerprint: string }

/** Where the next event is appended. */
export type ChainHead = ChainPoint & { readonly eventUid: string; readonly typeUid: number }

/** The head of a chain that has no event yet. One chain per organization: its id and an epoch. */
export function startOfChain(organizationId: string, epoch = 1): ChainHead {
  return { chainUid: `${organizationId}/${epoch}`, sequence: 0, fingerprint: '', eventUid: '', typeUid: 0 }
}

/**
 * Seals documents behind the head, in order. `authorityUid` names the installation that vouches for them.
 * The caller holds the lock on the head: two writers from one head would fork the chain.
 */
export function appendToChain(
  head: ChainHead,
  documents: readonly AuditDocument[],
  authorityUid: string,
): { readonly head: ChainHead; readonly rows: readonly SealedEvent[] } {
  const rows: SealedEvent[] = []
  let last = head
  for (const document of documents) {
    const row = seal(last, document, authorityUid)
    const { chainUid, sequence, fingerprint, id } = row
    rows.push(row)
    last = { chainUid, sequence, fingerprint, eventUid: id, typeUid: document.type_uid }
  }
  return { head: last, rows }
}

function seal(head: ChainHead, document: AuditDocument, authorityUid: string): SealedEvent {
  const attestation: Attestation = {
    authority_uid: authorityUid,
    chain_uid: head.chainUid,
    fingerprint: undefined,
    prev_event: previousOf(head),
  }
  const metadata = { ...document.metadata, sequence: head.sequence + 1 }
  const spell = hasPlaces(document) ? JSON.stringify : canonicalize
  const text = spell({ ...document, metadata, attestation_list: [attestation] })
  const signed = { ...attestation, fingerprint: fingerprintOfText(text) }
  // The document is spelled once; quotes inside of its texts are escaped, so only the attestation itself reads like it.
  const body = text.replace(spell(attestation), () => spell(signed))
  return rowOf({ ...document, metadata, attestation_list: [signed] }, body)
}

/**
 * Nearly all documents come straight from `createEvent`: their members are in canonical order, also the two that sealing
 * fills in, and plain JSON spells them canonically at a fraction of the cost. One that was shortened, or read from a disk,
 * has lost the places of those two.
 */
const hasPlaces = (document: AuditDocument): boolean =>
  Object.hasOwn(document, 'attestation_list') && Object.hasOwn(document.metadata, 'sequence')

function previousOf({ sequence, eventUid, typeUid, fingerprint }: ChainHead): Attestation['prev_event'] {
  return sequence === 0 ? undefined : { fingerprint: sha256(fingerprint), type_uid: typeUid, uid: eventUid }
}
