import { UnexpectedRows, type Database, type Statement } from '../database.ts'
import { blockOf, lastOfBlock, maxPackedCharacters, type Bodies } from './block-codec.ts'
import { packBlock, unpackBlocks } from './block-thread.ts'

type PackableChain = { organization_id: string; sequence: number; packed_sequence: number }

/** Compresses the staged bodies of each complete block of events. */
export async function packChains(database: Database): Promise<void> {
  const chains = await database.read<PackableChain>(
    'select organization_id, sequence, packed_sequence from audit_chain where sequence > packed_sequence',
  )
  for (const chain of chains) await packChain(database, chain)
}

async function packChain(database: Database, chain: PackableChain): Promise<void> {
  const { organization_id: organizationId, sequence } = chain
  let after = chain.packed_sequence
  for (let block = blockOf(after + 1); lastOfBlock(block) <= sequence; block++) {
    const last = lastOfBlock(block)
    const move = {
      sql: 'update audit_chain set packed_sequence = $2 where organization_id = $1 and packed_sequence = $3',
      params: [organizationId, last, after],
      expect: 1,
    }
    const packing = await packingOf(database, 'audit_body', { organizationId, block, after, last })
    if (packing === undefined || !(await didWrite(database, [move, ...packing.statements]))) return
    after = last
  }
}

type OldChain = { organization_id: string; first_sequence: number; packed_sequence: number }

/**
 * Compresses bodies that are still in `audit_event`: of events from before there were blocks, or that were written together with a
 * change. Only the newest events, whose block is not complete, are left. Returns how many were moved.
 */
export async function packOldBodies(database: Database, onProgress: (moved: number) => void): Promise<number> {
  const chains = await database.read<OldChain>(
    'select organization_id, first_sequence, packed_sequence from audit_chain where packed_sequence > 0',
  )
  let moved = 0
  for (const { organization_id: organizationId, first_sequence: first, packed_sequence: packed } of chains)
    for (let block = blockOf(first); lastOfBlock(block) <= packed; block++) {
      const range = { organizationId, block, after: lastOfBlock(block - 1), last: lastOfBlock(block) }
      const packing = await packingOf(database, 'audit_event', range)
      if (packing === undefined || packing.count === 0) continue
      if (await didWrite(database, packing.statements)) onProgress((moved += packing.count))
    }
  return moved
}

type BlockRange = {
  readonly organizationId: string
  readonly block: number
  readonly after: number
  readonly last: number
}

const bodyTables = {
  audit_body: (within: string) => `delete from audit_body ${within}`,
  audit_event: (within: string) => `update audit_event set body = '' ${within}`,
}

type Packing = { readonly count: number; readonly statements: readonly Statement[] }

/** Moves the bodies of one block out of a table. Undefined if the block is damaged. */
async function packingOf(
  database: Database,
  table: keyof typeof bodyTables,
  { organizationId, block, after, last }: BlockRange,
): Promise<Packing | undefined> {
  const within = `where organization_id = $1 and sequence > $2 and sequence <= $3
    and body <> '' and length(body) <= ${maxPackedCharacters}`
  const params = [organizationId, after, last]
  const rows = await database.read<{ sequence: number; body: string }>(
    `select sequence, body from ${table} ${within}`,
    params,
  )
  if (rows.length === 0) return { count: 0, statements: [] }
  const bodies = new Map(rows.map(({ sequence, body }) => [sequence, body]))
  const addition = await additionOf(database, { organizationId, block }, bodies)
  if (addition === undefined) return undefined
  // Retention may have removed some since they were read.
  const removal = { sql: bodyTables[table](within), params, expect: rows.length }
  return { count: rows.length, statements: [addition, removal] }
}

/** Adds bodies to a block, if no other writer has changed it meanwhile. Undefined if the block is damaged. */
async function additionOf(
  database: Database,
  { organizationId, block }: Pick<BlockRange, 'organizationId' | 'block'>,
  bodies: Bodies,
): Promise<Statement | undefined> {
  const [stored] = await database.read<{ bodies: Uint8Array }>(
    'select bodies from audit_block where organization_id = $1 and block = $2',
    [organizationId, block],
  )
  if (stored === undefined) {
    const sql = `insert into audit_block (organization_id, block, bodies) values ($1, $2, $3)
      on conflict (organization_id, block) do nothing`
    return { sql, params: [organizationId, block, await packBlock(block, bodies)], expect: 1 }
  }
  const before = await unpackBlocks([{ block, packed: stored.bodies }])
  if (before.size === 0) return undefined
  const packed = await packBlock(block, new Map([...before, ...bodies]))
  return {
    sql: 'update audit_block set bodies = $3 where organization_id = $1 and block = $2 and bodies = $4',
    params: [organizationId, block, packed, stored.bodies],
    expect: 1,
  }
}

/** False if another node has packed the block, or retention removed some of its events. */
async function didWrite(database: Database, statements: readonly Statement[]): Promise<boolean> {
  try {
    await database.write(statements, { waitsForDisk: false })
    return true
  } catch (error) {
    if (error instanceof UnexpectedRows) return false
    throw error
  }
}

/**
 * Whether bodies may be staged: not while a node of version 0.2 may still read the log. One that stops cannot start on this database
 * again, so the answer stays true.
 */
export async function canStageBodies(database: Database): Promise<boolean> {
  if (database.engine === 'sqlite') return true
  const [row] = await database.read<{ old: number }>('select count(*) as old from node where reads_blocks is null')
  return row?.old === 0
}
