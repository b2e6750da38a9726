import { canonicalize } from '../event/canonical.ts'
import type { Attestation, AuditDocument, Fingerprint } from '../event/document.ts'
import { fingerprintOfText, rowOf, sha256, type ChainedEvent } from './chained-event.ts'

/** A point in a chain: the event with this sequence has this fingerprint. */
export type ChainPoint = { readonly chainUid: string; readonly sequence: number; readonly fingerprint: string }

/** Where the next event is appended. */
export type ChainHead = ChainPoint & { readonly eventUid: string; readonly typeUid: number }

/** The head of an empty chain. Each organization has one chain, named by its id and an epoch. */
export function startOfChain(organizationId: string, epoch = 1): ChainHead {
  return { chainUid: `${organizationId}/${epoch}`, sequence: 0, fingerprint: '', eventUid: '', typeUid: 0 }
}

/**
 * Appends documents to the head, in order. `authorityUid` names the installation that wrote them. The caller must hold the lock
 * on the head, because two writers with the same head would fork the chain.
 */
export function appendToChain(
  head: ChainHead,
  documents: readonly AuditDocument[],
  authorityUid: string,
): { readonly head: ChainHead; readonly rows: readonly ChainedEvent[] } {
  const rows: ChainedEvent[] = []
  let last = head
  for (const document of documents) {
    const row = chainDocument(last, document, authorityUid)
    const { chainUid, sequence, fingerprint, id } = row
    rows.push(row)
    last = { chainUid, sequence, fingerprint, eventUid: id, typeUid: document.type_uid }
  }
  return { head: last, rows }
}

function chainDocument(head: ChainHead, document: AuditDocument, authorityUid: string): ChainedEvent {
  const previous = previousOf(head)
  const attest = (fingerprint?: Fingerprint): Attestation => ({
    authority_uid: authorityUid,
    chain_uid: head.chainUid,
    fingerprint,
    prev_event: previous,
  })
  const metadata = { ...document.metadata, sequence: head.sequence + 1 }
  const serialize = isInCanonicalOrder(document) ? JSON.stringify : canonicalize
  const bodyWith = insertAttestation(serialize({ ...document, metadata, attestation_list: undefined }))
  const attestation = attest(fingerprintOfText(bodyWith(attest())))
  return rowOf({ ...document, metadata, attestation_list: [attestation] }, bodyWith(attestation))
}

/** Serializes the document only once: the attestation is inserted into its text, first without and then with the fingerprint. */
function insertAttestation(text: string): (attestation: Attestation) => string {
  // The member after `attestation_list`. Quotes in texts are escaped, and no earlier member has this name, so the match is exact.
  const at = text.indexOf('"category_uid":')
  const [before, after] = [text.slice(0, at), text.slice(at)]
  return (attestation) => `${before}"attestation_list":[${JSON.stringify(attestation)}],${after}`
}

/**
 * Documents from `createEvent` have their members in canonical order, including an undefined `sequence`, so `JSON.stringify` is
 * canonical and much cheaper. A document that was read from the spool has lost the undefined member.
 */
const isInCanonicalOrder = ({ metadata }: AuditDocument): boolean => Object.hasOwn(metadata, 'sequence')

function previousOf({ sequence, eventUid, typeUid, fingerprint }: ChainHead): Attestation['prev_event'] {
  return sequence === 0 ? undefined : { fingerprint: sha256(fingerprint), type_uid: typeUid, uid: eventUid }
}
