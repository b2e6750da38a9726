import type { SignedCheckpoint } from '../../../../domain/audit/chain/checkpoint.ts'
import type { AuditFilter, AuditReads, EventRange } from '../../../../domain/audit/log.ts'
import {
  eventColumns,
  eventTables,
  loggedBeforeDamage,
  loggedOf,
  plainRequest,
  listColumns,
  storedOf,
  type EventRow,
} from './rows.ts'
import type { Transaction } from '../database.ts'
import { selectPage } from '../page.ts'

type ChainRow = { chain_uid: string; sequence: number; fingerprint: string; first_sequence: number }

const selectChain =
  'select chain_uid, sequence, fingerprint, first_sequence from audit_chain where organization_id = $1'

/** Reads the log: lists for the API, ranges for senders and verification. */
export function auditReads(tx: Pick<Transaction, 'query'>): AuditReads {
  const selectRange = (organizationId: string, range: EventRange): Promise<EventRow[]> =>
    tx.query<EventRow>(
      `select ${range.withTexts ? eventColumns : listColumns} from ${eventTables}
       where e.organization_id = $1 and e.sequence > $2 and e.sequence <= $3 order by e.sequence limit $4`,
      [organizationId, range.after, range.last ?? Number.MAX_SAFE_INTEGER, range.limit],
    )

  return {
    list: (organizationId, filter, page) =>
      selectPage(
        tx,
        {
          table: eventTables,
          columns: listColumns,
          where: { 'e.organization_id': organizationId, ...equalities(filter) },
          only: [[otherConditions(filter)]],
          id: 'e.id',
          by: 'e.sequence',
          map: loggedOf,
        },
        page,
      ),
    async find(organizationId, id) {
      const sql = `select ${listColumns} from ${eventTables} where e.organization_id = $1 and e.id = $2`
      const [row] = await tx.query<EventRow>(sql, [organizationId, id])
      return row && loggedOf(row)
    },
    events: async (organizationId, range) => loggedBeforeDamage(await selectRange(organizationId, range)),
    rows: async (organizationId, range) => (await selectRange(organizationId, range)).map(storedOf),

    async chainState(organizationId) {
      const [row] = await tx.query<ChainRow>(selectChain, [organizationId])
      if (!row) return undefined
      const signed = await tx.query<{ checkpoint: string }>(
        'select checkpoint from audit_checkpoint where organization_id = $1 order by sequence',
        [organizationId],
      )
      return {
        head: { chainUid: row.chain_uid, sequence: row.sequence, fingerprint: row.fingerprint },
        firstSequence: row.first_sequence,
        checkpoints: signed.map(({ checkpoint }) => checkpointOf(checkpoint)),
      }
    },
    async fingerprints(organizationId, { after, last }) {
      const [chain] = await tx.query<ChainRow>(selectChain, [organizationId])
      const rows = await tx.query<{ sequence: number; fingerprint: string }>(
        `select sequence, fingerprint from audit_event
         where organization_id = $1 and sequence > $2 and sequence <= $3 order by sequence`,
        [organizationId, after, last],
      )
      return {
        chainUid: chain?.chain_uid ?? '',
        first: chain?.first_sequence ?? 1,
        last: chain?.sequence ?? 0,
        at: rows.map(({ sequence, fingerprint }) => [sequence, fingerprint] as const),
      }
    },
    async handovers(organizationId) {
      const rows = await tx.query<{ checkpoint: string }>(
        `select checkpoint from audit_checkpoint
         where organization_id = $1 and checkpoint like '%"handover":%' order by sequence`,
        [organizationId],
      )
      return rows.map(({ checkpoint }) => checkpointOf(checkpoint))
    },
    async keys() {
      const rows = await tx.query<{ id: string; public_key: string; created_at: number; texts_key: Uint8Array | null }>(
        'select id, public_key, created_at, texts_key from audit_key order by created_at, id',
      )
      return rows.map((row) => ({
        id: row.id,
        publicKey: row.public_key,
        createdAtMs: row.created_at,
        textsKey: row.texts_key,
      }))
    },
  }
}

/** The shape needs no check, because the signature covers it. */
export const checkpointOf = (json: string): SignedCheckpoint => JSON.parse(json) as SignedCheckpoint

function equalities({
  code,
  decision,
  projectId,
  policyId,
  userId,
  requestId,
  actorId,
}: AuditFilter): Record<string, string> {
  const all = {
    'e.code': code,
    'e.decision': decision,
    'e.project_id': projectId,
    'e.policy_id': policyId,
    'e.user_id': userId,
    'e.request_id': requestId,
    'e.actor_id': actorId,
  }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** Times, and the exact conditions of the partial indexes: an engine uses a partial index only if the query repeats its condition. */
function otherConditions(filter: AuditFilter): string {
  const { family, code, decision } = filter
  const conditions = [
    ...timeConditions(filter),
    ...(family === undefined ? [] : [`e.code >= '${family}.' and e.code < '${family}/'`]),
    ...(code === undefined || code === plainRequest ? [] : [`e.code <> '${plainRequest}'`]),
    ...(decision === undefined || decision === 'allow' ? [] : ["e.decision <> 'allow'"]),
  ]
  return conditions.join(' and ') || '1 = 1'
}

/**
 * Sequences and times grow nearly together. With times alone, an engine reads and sorts all events of the period for one page.
 * With the range of sequences as well, it reads only the page. `$1` is the organization.
 */
function timeConditions({ fromMs, toMs }: AuditFilter): string[] {
  const bounds = [
    ...(fromMs === undefined ? [] : [`time >= ${Math.trunc(fromMs)}`]),
    ...(toMs === undefined ? [] : [`time < ${Math.trunc(toMs)}`]),
  ]
  if (bounds.length === 0) return []
  const within = (edge: string): string =>
    `(select ${edge}(t.sequence) from audit_event t where t.organization_id = $1 and ${bounds.map((bound) => `t.${bound}`).join(' and ')})`
  return [...bounds.map((bound) => `e.${bound}`), `e.sequence between ${within('min')} and ${within('max')}`]
}
