import type { KeyObject } from 'node:crypto'
import type { Clock } from '../../../../base/clock.ts'
import type { ChainHead } from '../../../../domain/audit/chain/chain.ts'
import {
  isCheckpointDue,
  signCheckpoint,
  type SignedCheckpoint,
  type SigningKey,
} from '../../../../domain/audit/chain/checkpoint.ts'
import { checkpointFacts } from '../../../../domain/audit/chain/checkpoint-event.ts'
import { handOver } from '../../../../domain/audit/chain/handover.ts'
import type { EventMaker } from '../../../../domain/audit/event/event-maker.ts'
import { appendInTransaction, lockHead, type ChainAppender } from './chain.ts'
import { checkpointOf } from './events.ts'
import type { Database, Transaction } from '../database.ts'

export type CheckpointParts = {
  readonly database: Database
  readonly clock: Clock
  readonly events: EventMaker
  /** The first key signs. The others signed before a rotation of the server secret, or will sign after it. */
  readonly keys: () => readonly (SigningKey & { readonly publicKey: KeyObject })[]
  /** The last checkpoint that this process signed, by organization. A chain without it was rewritten, and is not signed again. */
  readonly signed: Map<string, SignedCheckpoint>
  readonly onRewritten: (organizationId: string, last: SignedCheckpoint) => void
  /** The event that carries a checkpoint is committed, and is the new head of its chain. */
  readonly onAppended?: ChainAppender['setHead']
}

type KeyParts = Pick<CheckpointParts, 'database' | 'clock' | 'keys'>

/** Chains signed per call, so that other jobs can run in between. */
const maxChainsAtOnce = 200

/**
 * Chains signed in one transaction. The embedded engine commits all pending steps before a transaction, so a transaction for each
 * chain would delay every request meanwhile. On PostgreSQL the heads of other chains would stay locked.
 */
const chainsPerTransaction = { sqlite: 10, postgres: 1 } as const

/** Publishes the public keys for verification, before the first checkpoint is signed with them. */
export async function publishKeys({ database, clock, keys }: KeyParts): Promise<void> {
  const sql = 'insert into audit_key (id, public_key, created_at) values ($1, $2, $3) on conflict (id) do nothing'
  await database.write(
    keys().map(({ keyId, publicKey }) => ({
      sql,
      params: [keyId, publicKey.export({ type: 'spki', format: 'pem' }), clock.nowMs()],
    })),
  )
}

/** Chains whose last checkpoint was signed with another key than the current one. */
export async function chainsOfOtherKeys(database: Database, keyId: string, limit: number): Promise<readonly string[]> {
  const rows = await database.read<{ organization_id: string }>(
    `select h.organization_id from audit_chain h
     join audit_checkpoint c on c.organization_id = h.organization_id and c.sequence = h.signed_sequence
     where c.checkpoint not like $1 order by h.organization_id limit $2`,
    [`%"key_id":"${keyId}"%`, limit],
  )
  return rows.map(({ organization_id: id }) => id)
}

/** Signs these chains now, even if no checkpoint is due, so that the previous key hands over to the current one in each. */
export async function signChains(organizationIds: readonly string[], parts: CheckpointParts): Promise<void> {
  await signAll(
    organizationIds.map((organizationId) => ({ organizationId, isDue: () => true })),
    parts,
  )
}

/**
 * Signs every chain for which a checkpoint is due, and returns how many. Any number of nodes may call it. On shutdown a process
 * signs every unsigned event, so that none is left without a signature.
 */
export async function signDueChains(parts: CheckpointParts, isStopping = false): Promise<number> {
  const nowMs = parts.clock.nowMs()
  const rows = await parts.database.read<{ organization_id: string; unsigned: number; signed_at: number }>(
    `select organization_id, signed_at, sequence - signed_sequence as unsigned from audit_chain
     where sequence > 0 and (sequence > signed_sequence + 1 or signed_at <= $1) order by signed_at limit $2`,
    [nowMs - idleMs, maxChainsAtOnce],
  )
  const due = rows.filter(({ unsigned, signed_at: signedAtMs }) => isDue({ unsigned, signedAtMs, isStopping }, nowMs))
  const requests = due.map(({ organization_id: organizationId }) => ({
    organizationId,
    isDue: (unsigned: number, signedAtMs: number, atMs: number) => isDue({ unsigned, signedAtMs, isStopping }, atMs),
  }))
  return signAll(requests, parts)
}

/** Returns how many chains were signed. */
async function signAll(requests: readonly SignRequest[], parts: CheckpointParts): Promise<number> {
  const { database, signed, onAppended } = parts
  const size = chainsPerTransaction[database.engine]
  let count = 0
  for (let at = 0; at < requests.length; at += size) {
    const chains = await database.transaction(async (tx) => {
      const made = new Map<string, SignedChain>()
      for (const request of requests.slice(at, at + size)) {
        const chain = await signChain(tx, request, parts)
        if (chain) made.set(request.organizationId, chain)
      }
      return made
    })
    for (const [organizationId, { checkpoint, head }] of chains) {
      signed.set(organizationId, checkpoint)
      onAppended?.(organizationId, head)
    }
    count += chains.size
  }
  return count
}

const idleMs = 60 * 60 * 1000

/** The event that carries the previous checkpoint comes right after it, and needs no checkpoint of its own. */
function isDue({ unsigned, signedAtMs, isStopping }: UnsignedState, nowMs: number): boolean {
  const events = signedAtMs === 0 ? unsigned : Math.max(0, unsigned - 1)
  return isStopping ? events > 0 : isCheckpointDue(events, nowMs - signedAtMs)
}

/** `isDue` is evaluated again under the lock, because another node may have signed meanwhile. */
type SignRequest = {
  readonly organizationId: string
  readonly isDue: (unsigned: number, signedAtMs: number, nowMs: number) => boolean
}

type SignedChain = { readonly checkpoint: SignedCheckpoint; readonly head: ChainHead }

type UnsignedState = { readonly unsigned: number; readonly signedAtMs: number; readonly isStopping: boolean }

async function signChain(
  tx: Transaction,
  { organizationId, isDue: isStillDue }: SignRequest,
  parts: CheckpointParts,
): Promise<SignedChain | undefined> {
  const head = await lockHead(tx, organizationId)
  const [last] = await tx.query<{ signed_sequence: number; signed_at: number; checkpoint: string | null }>(
    `select h.signed_sequence, h.signed_at, c.checkpoint from audit_chain h
     left join audit_checkpoint c on c.organization_id = h.organization_id and c.sequence = h.signed_sequence
     where h.organization_id = $1`,
    [organizationId],
  )
  const timeMs = parts.clock.nowMs()
  // Another node may have signed while this one waited for the head.
  const unsigned = head.sequence - (last?.signed_sequence ?? 0)
  if (!last || !isStillDue(unsigned, last.signed_at, timeMs)) return undefined
  const own = parts.signed.get(organizationId)
  if (own && !(await isKept(tx, organizationId, own))) {
    parts.onRewritten(organizationId, own)
    return undefined
  }
  const before = last.checkpoint === null ? undefined : checkpointOf(last.checkpoint)
  const [key, ...others] = parts.keys()
  if (!key) throw new Error('there is no key to sign the audit log with')
  const from = before && others.find(({ keyId }) => keyId === before.key_id)
  const handover = from && handOver(head.chainUid, { from, to: key.publicKey })
  const checkpoint = signCheckpoint({ ...head, timeMs, handover }, before, key)
  await tx.run('insert into audit_checkpoint (organization_id, sequence, time, checkpoint) values ($1, $2, $3, $4)', [
    organizationId,
    head.sequence,
    timeMs,
    JSON.stringify(checkpoint),
  ])
  await tx.run('update audit_chain set signed_sequence = $2, signed_at = $3 where organization_id = $1', [
    organizationId,
    head.sequence,
    timeMs,
  ])
  const { makeEvent, authorityUid } = parts.events
  const event = makeEvent(checkpointFacts(organizationId, checkpoint))
  const appended = await appendInTransaction(tx, [event], { organizationId, authorityUid })
  return { checkpoint, head: appended.head }
}

/** Whether the database still has a checkpoint, or retention removed it together with everything older. */
async function isKept(tx: Transaction, organizationId: string, checkpoint: SignedCheckpoint): Promise<boolean> {
  const [row] = await tx.query<{ checkpoint: string | null; first_sequence: number }>(
    `select c.checkpoint, h.first_sequence from audit_chain h
     left join audit_checkpoint c on c.organization_id = h.organization_id and c.sequence = $2
     where h.organization_id = $1`,
    [organizationId, checkpoint.sequence],
  )
  if (!row) return false
  return row.checkpoint === null
    ? row.first_sequence > checkpoint.sequence + 1
    : row.checkpoint === JSON.stringify(checkpoint)
}
