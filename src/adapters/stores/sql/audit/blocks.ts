import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type { Transaction } from '../database.ts'
import type { EventRow } from './rows.ts'

/** Events whose bodies are compressed together. Alone, a body shrinks to a half; together to a fifteenth. */
export const blockSize = 128
/** Larger bodies stay in `audit_body`, so that the size of a block has a bound. */
export const maxPackedCharacters = 16_384
/** A character has at most four bytes in UTF-8. */
const maxBytes = blockSize * (maxPackedCharacters * 4 + 1)

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

export const blockOf = (sequence: number): number => Math.floor((sequence - 1) / blockSize)
export const lastOfBlock = (block: number): number => (block + 1) * blockSize

export type Bodies = ReadonlyMap<number, string>

/** The bodies of one block, by sequence. They are canonical JSON, which has no line breaks. */
export function packBlock(block: number, bodies: Bodies): Promise<Uint8Array> {
  const first = block * blockSize + 1
  const lines = Array.from({ length: blockSize }, (_, at) => bodies.get(first + at) ?? '')
  return compress(lines.join('\n'))
}

/** The bodies of all events, or of those that `wants` names: few texts are made of a large block. Empty if the block is damaged. */
export async function unpackBlock(block: number, packed: Uint8Array, wants = (_: number) => true): Promise<Bodies> {
  const lines = await decompress(packed, { maxOutputLength: maxBytes }).catch(() => Buffer.alloc(0))
  const bodies = new Map<number, string>()
  let sequence = block * blockSize
  for (let start = 0; start < lines.length;) {
    const found = lines.indexOf('\n', start)
    const end = found === -1 ? lines.length : found
    if (wants(++sequence) && end > start) bodies.set(sequence, lines.toString('utf8', start, end))
    start = end + 1
  }
  return bodies
}

type BlockRow = { block: number; bodies: Uint8Array }

/** Fills in the bodies that are in blocks. A body that is nowhere stays empty: its event is damaged. */
export async function withBodies(
  tx: Pick<Transaction, 'query'>,
  organizationId: string,
  rows: readonly EventRow[],
): Promise<readonly EventRow[]> {
  const packed = rows.filter(({ body }) => body === '')
  if (packed.length === 0) return rows
  const blocks = [...new Set(packed.map(({ sequence }) => blockOf(sequence)))]
  const found = await tx.query<BlockRow>(
    `select block, bodies from audit_block
     where organization_id = $1 and block in (${blocks.map((_, at) => `$${at + 2}`).join(', ')})`,
    [organizationId, ...blocks],
  )
  const wanted = new Set(packed.map(({ sequence }) => sequence))
  const unpacked = new Map<number, string>()
  for (const { block, bodies } of found)
    for (const [sequence, body] of await unpackBlock(block, bodies, (each) => wanted.has(each)))
      unpacked.set(sequence, body)
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
