import { canonicalize } from '../event/canonical.ts'
import type { Attestation, AuditDocument, ChainedDocument, Fingerprint } from '../event/document.ts'
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
  const attestation: Attestation & { fingerprint: Fingerprint | undefined } = {
    authority_uid: authorityUid,
    chain_uid: head.chainUid,
    fingerprint: undefined,
    prev_event: previousOf(head),
  }
  const metadata = { ...document.metadata, sequence: head.sequence + 1 }
  const chained: ChainedDocument = { ...document, metadata, attestation_list: [attestation] }
  const serialize = isInCanonicalOrder(document) ? JSON.stringify : canonicalize
  const unsigned = serialize(chained)
  attestation.fingerprint = fingerprintOfText(unsigned)
  return rowOf(chained, insertFingerprint(unsigned, attestation))
}

/** Inserts the fingerprint into the text that was hashed, so that the document is serialized only once. */
function insertFingerprint(unsigned: string, { authority_uid, chain_uid, fingerprint }: Attestation): string {
  // Quotes in texts are escaped, and no earlier member has this name, so the match is exact.
  const list = unsigned.indexOf(attestationList) + attestationList.length
  const at = list + JSON.stringify({ authority_uid, chain_uid }).length - 1
  return `${unsigned.slice(0, at)},"fingerprint":${JSON.stringify(fingerprint)}${unsigned.slice(at)}`
}

const attestationList = '"attestation_list":['

/**
 * Documents from `createEvent` have their members in canonical order, including an undefined `attestation_list` and `sequence`, so
 * `JSON.stringify` is canonical and much cheaper. A document that was read from the spool has lost the undefined members.
 */
const isInCanonicalOrder = (document: AuditDocument): boolean =>
  Object.hasOwn(document, 'attestation_list') && Object.hasOwn(document.metadata, 'sequence')

function previousOf({ sequence, eventUid, typeUid, fingerprint }: ChainHead): Attestation['prev_event'] {
  return sequence === 0 ? undefined : { fingerprint: sha256(fingerprint), type_uid: typeUid, uid: eventUid }
}
