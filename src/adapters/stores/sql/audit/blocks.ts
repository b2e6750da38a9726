import type { Transaction } from '../database.ts'
import { blockOf } from './block-codec.ts'
import { unpackBlocks } from './block-thread.ts'
import type { EventRow } from './rows.ts'

type BlockRow = { block: number; bodies: Uint8Array }

/** Fills in the bodies that are in blocks. A body that is nowhere stays empty: its event is damaged. */
export async function withBodies(
  tx: Pick<Transaction, 'query'>,
  organizationId: string,
  rows: readonly EventRow[],
): Promise<readonly EventRow[]> {
  const packed = rows.filter(({ body }) => body === '')
  if (packed.length === 0) return rows
  const wanted = Map.groupBy(
    packed.map(({ sequence }) => sequence),
    blockOf,
  )
  const blocks = [...wanted.keys()]
  const found = await tx.query<BlockRow>(
    `select block, bodies from audit_block
     where organization_id = $1 and block in (${blocks.map((_, at) => `$${at + 2}`).join(', ')})`,
    [organizationId, ...blocks],
  )
  const unpacked = await unpackBlocks(
    found.map(({ block, bodies }) => ({ block, packed: bodies, wanted: wanted.get(block) ?? [] })),
  )
  const bodyOf = ({ body, sequence }: EventRow): string => (body === '' ? (unpacked.get(sequence) ?? '') : body)
  const filled = rows.map((row) => ({ ...row, body: bodyOf(row) }))
  return filled.some(({ body }) => body === '') ? await withoutRemoved(tx, organizationId, filled) : filled
}

/** Retention may remove a block after its rows were read. */
async function withoutRemoved(
  tx: Pick<Transaction, 'query'>,
  organizationId: string,
  rows: readonly EventRow[],
): Promise<readonly EventRow[]> {
  const [chain] = await tx.query<{ first_sequence: number }>(
    'select first_sequence from audit_chain where organization_id = $1',
    [organizationId],
  )
  return rows.filter(({ sequence, body }) => body !== '' || sequence >= (chain?.first_sequence ?? 1))
}
