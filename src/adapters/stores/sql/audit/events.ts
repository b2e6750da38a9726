import type { SignedCheckpoint } from '../../../../domain/audit/chain/checkpoint.ts'
import type { AuditReads, EventRange } from '../../../../domain/audit/log.ts'
import {
  eventColumns,
  eventTables,
  loggedBeforeDamage,
  loggedOf,
  listColumns,
  storedOf,
  type EventRow,
} from './rows.ts'
import type { Transaction } from '../database.ts'
import { selectPage } from '../page.ts'
import { withBodies } from './blocks.ts'
import { equalities, orderOf, otherConditions, type EventTable } from './conditions.ts'
import { countRequests, findRequest, firstRequest, listRequests, newRequests } from './requests.ts'

type ChainRow = { chain_uid: string; sequence: number; fingerprint: string; first_sequence: number }

const selectChain =
  'select chain_uid, sequence, fingerprint, first_sequence from audit_chain where organization_id = $1'

async function eventsIn(
  tx: Pick<Transaction, 'query'>,
  organizationId: string,
  range: EventRange,
): Promise<readonly EventRow[]> {
  const rows = await tx.query<EventRow>(
    `select ${range.withTexts ? eventColumns : listColumns} from ${eventTables}
     where e.organization_id = $1 and e.sequence > $2 and e.sequence <= $3 order by e.sequence limit $4`,
    [organizationId, range.after, range.last ?? Number.MAX_SAFE_INTEGER, range.limit],
  )
  return withBodies(tx, organizationId, rows)
}

/** Reads the log: lists for the API, ranges for senders and verification. Only lists need to know the table. */
export function auditReads(tx: Pick<Transaction, 'query'>, table: EventTable = { isPartitioned: false }): AuditReads {
  const reader = { ...tx, ...table }
  const selectRange = (organizationId: string, range: EventRange): Promise<readonly EventRow[]> =>
    eventsIn(tx, organizationId, range)

  return {
    async list(organizationId, filter, page) {
      const listing = {
        table: eventTables,
        columns: listColumns,
        where: { 'e.organization_id': organizationId, ...equalities(filter) },
        only: [[otherConditions(filter, table)] as const],
        id: 'e.id',
        by: orderOf(filter, table),
        map: (row: EventRow) => row,
      }
      const { items, hasMore } = await selectPage(tx, listing, page)
      return { items: (await withBodies(tx, organizationId, items)).map(loggedOf), hasMore }
    },
    async find(organizationId, id) {
      const sql = `select ${listColumns} from ${eventTables} where e.organization_id = $1 and e.id = $2`
      const [row] = await withBodies(tx, organizationId, await tx.query<EventRow>(sql, [organizationId, id]))
      return row && loggedOf(row)
    },
    listRequests: (organizationId, filter, page) => listRequests(reader, { organizationId, filter, page }),
    firstRequest: (organizationId, filter) => firstRequest(reader, { organizationId, filter }),
    countRequests: (organizationId, filter, most) => countRequests(reader, { organizationId, filter }, most),
    newRequests: (organizationId, query) => newRequests(reader, organizationId, query),
    findRequest: (organizationId, requestId) => findRequest(tx, organizationId, requestId),
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
    async chainContext(organizationId, sequence) {
      const [rows, [signed]] = await Promise.all([
        tx.query<{ sequence: number; fingerprint: string }>(
          'select sequence, fingerprint from audit_event where organization_id = $1 and sequence between $2 and $3',
          [organizationId, sequence - 1, sequence + 1],
        ),
        tx.query<{ checkpoint: string }>(
          `select checkpoint from audit_checkpoint where organization_id = $1 and sequence >= $2
           order by sequence limit 1`,
          [organizationId, sequence],
        ),
      ])
      return {
        fingerprints: new Map(rows.map((row) => [row.sequence, row.fingerprint])),
        checkpoint: signed === undefined ? null : checkpointOf(signed.checkpoint),
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
