import { canonicalize } from '../event/canonical.ts'
import type { Attestation, AuditDocument, Fingerprint } from '../event/document.ts'
import { fingerprintOfText, rowOf, sha256, type ChainedEvent } from './chained-event.ts'

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
): { readonly head: ChainHead; readonly rows: readonly ChainedEvent[] } {
  const rows: ChainedEvent[] = []
  let last = head
  for (const document of documents) {
    const row = seal(last, document, authorityUid)
    const { chainUid, sequence, fingerprint, id } = row
    rows.push(row)
    last = { chainUid, sequence, fingerprint, eventUid: id, typeUid: document.type_uid }
  }
  return { head: last, rows }
}

function seal(head: ChainHead, document: AuditDocument, authorityUid: string): ChainedEvent {
  const previous = previousOf(head)
  const attest = (fingerprint?: Fingerprint): Attestation => ({
    authority_uid: authorityUid,
    chain_uid: head.chainUid,
    fingerprint,
    prev_event: previous,
  })
  const metadata = { ...document.metadata, sequence: head.sequence + 1 }
  const spell = hasPlaces(document) ? JSON.stringify : canonicalize
  const spelled = around(spell({ ...document, metadata, attestation_list: undefined }))
  const signed = attest(fingerprintOfText(spelled(attest())))
  return rowOf({ ...document, metadata, attestation_list: [signed] }, spelled(signed))
}

/** Nearly all of a document is spelled once: its text around the attestation, whatever that says. */
function around(text: string): (attestation: Attestation) => string {
  // The next member in the alphabet. Quotes inside of texts are escaped, and nothing before it holds a member of that name.
  const at = text.indexOf('"category_uid":')
  const [before, after] = [text.slice(0, at), text.slice(at)]
  return (attestation) => `${before}"attestation_list":[${JSON.stringify(attestation)}],${after}`
}

/**
 * Nearly all documents come straight from `createEvent`: their members are in canonical order, with a place for the sequence
 * that only sealing knows, and plain JSON spells them canonically at a fraction of the cost. One that was read from a disk
 * has lost that place.
 */
const hasPlaces = ({ metadata }: AuditDocument): boolean => Object.hasOwn(metadata, 'sequence')

function previousOf({ sequence, eventUid, typeUid, fingerprint }: ChainHead): Attestation['prev_event'] {
  return sequence === 0 ? undefined : { fingerprint: sha256(fingerprint), type_uid: typeUid, uid: eventUid }
}
