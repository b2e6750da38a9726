import type { KeyObject } from 'node:crypto'
import type { Clock } from '../../../../base/clock.ts'
import type { MaybePromise } from '../../../../base/maybe-promise.ts'
import type { ChainHead } from '../../../../domain/audit/chain/chain.ts'
import {
  isCheckpointDue,
  lateAfterMs,
  signCheckpoint,
  type SignedCheckpoint,
  type SigningKey,
} from '../../../../domain/audit/chain/checkpoint.ts'
import { checkpointCode, checkpointFacts, lateFacts } from '../../../../domain/audit/chain/checkpoint-event.ts'
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
  readonly signed: LastCheckpoints
  readonly onRewritten: (organizationId: string, last: SignedCheckpoint) => void
  /** Called if some of the events that a checkpoint covers were not signed for minutes: nothing proves what happened to them. */
  readonly onLate: (organizationId: string, range: LateRange) => void
  /** The event that carries a checkpoint is committed, and is the new head of its chain. */
  readonly onAppended?: ChainAppender['setHead']
}

/** The last checkpoint that this node signed, by organization. A chain without it was rewritten, and is not signed. */
export type LastCheckpoints = {
  get(organizationId: string): MaybePromise<SignedCheckpoint | undefined>
  set(organizationId: string, checkpoint: SignedCheckpoint): unknown
}

export type LateRange = { readonly from: number; readonly to: number }

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

/** Bounds how long a shutdown takes. */
const maxStopRounds = 20

/** On shutdown a process signs every unsigned event, so that none has to be signed late by the next start. */
export async function signAllChains(parts: CheckpointParts): Promise<void> {
  for (let round = 0; round < maxStopRounds && (await signDueChains(parts, true)) > 0; round++);
}

/** Signs the chains for which a checkpoint is due, and returns how many. Any number of nodes may call it. */
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
  const { database, signed, onAppended, onLate } = parts
  const size = chainsPerTransaction[database.engine]
  let count = 0
  for (let at = 0; at < requests.length; at += size) {
    const batch = requests.slice(at, at + size)
    // Before the transaction, which must not wait for files.
    const own = new Map<string, SignedCheckpoint | undefined>()
    for (const { organizationId } of batch) own.set(organizationId, await signed.get(organizationId))
    const chains = await database.transaction(async (tx) => {
      const made = new Map<string, SignedChain>()
      for (const request of batch) {
        const chain = await signChain(tx, { ...request, own: own.get(request.organizationId) }, parts)
        if (chain) made.set(request.organizationId, chain)
      }
      return made
    })
    for (const [organizationId, { checkpoint, head, late }] of chains) {
      onAppended?.(organizationId, head)
      if (late) onLate(organizationId, late)
      await signed.set(organizationId, checkpoint)
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

type SignedChain = {
  readonly checkpoint: SignedCheckpoint
  readonly head: ChainHead
  readonly late: LateRange | undefined
}

type UnsignedState = { readonly unsigned: number; readonly signedAtMs: number; readonly isStopping: boolean }

async function signChain(
  tx: Transaction,
  { organizationId, isDue: isStillDue, own }: SignRequest & { readonly own: SignedCheckpoint | undefined },
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
  if (own && !(await isKept(tx, organizationId, own))) {
    parts.onRewritten(organizationId, own)
    return undefined
  }
  const before = last.checkpoint === null ? undefined : checkpointOf(last.checkpoint)
  const [key, ...others] = parts.keys()
  if (!key) throw new Error('there is no key to sign the audit log with')
  const from = before && others.find(({ keyId }) => keyId === before.key_id)
  const handover = from && handOver(head.chainUid, { from, to: key.publicKey })
  const tail = { organizationId, from: last.signed_sequence + 1, to: head.sequence }
  const late = (await isLate(tx, tail, timeMs)) ? { from: tail.from, to: tail.to } : undefined
  const checkpoint = signCheckpoint({ ...head, timeMs, handover, isLate: late !== undefined }, before, key)
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
  const facts = [
    checkpointFacts(organizationId, checkpoint),
    ...(late ? [lateFacts(organizationId, checkpoint, late)] : []),
  ]
  const events = facts.map((fact) => makeEvent(fact))
  const appended = await appendInTransaction(tx, events, { organizationId, authorityUid })
  return { checkpoint, head: appended.head, late }
}

/**
 * Whether one of the events waited for its signature longer than a running service takes. The event that carries the previous
 * checkpoint does not count: in a quiet log it waits for an hour. The sum cannot use the index by time, which would read the
 * whole log.
 */
async function isLate(
  tx: Transaction,
  { organizationId, from, to }: LateRange & { readonly organizationId: string },
  nowMs: number,
): Promise<boolean> {
  const [row] = await tx.query<{ late: number | null }>(
    `select sum(case when time < $4 and not (sequence = $2 and sequence > 1 and code = $5) then 1 else 0 end) as late
     from audit_event where organization_id = $1 and sequence >= $2 and sequence <= $3`,
    [organizationId, from, to, nowMs - lateAfterMs, checkpointCode],
  )
  return (row?.late ?? 0) > 0
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
