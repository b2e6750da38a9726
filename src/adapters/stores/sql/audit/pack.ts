import { UnexpectedRows, type Database, type Statement } from '../database.ts'
import { blockOf, lastOfBlock, maxPackedCharacters, packBlock } from './blocks.ts'

type PackableChain = { organization_id: string; sequence: number; packed_sequence: number }

/** Compresses the bodies of each complete block of events. */
export async function packChains(database: Database): Promise<void> {
  const chains = await database.read<PackableChain>(
    'select organization_id, sequence, packed_sequence from audit_chain where sequence > packed_sequence',
  )
  for (const chain of chains) await packChain(database, chain)
}

async function packChain(database: Database, chain: PackableChain): Promise<void> {
  const { organization_id: organizationId, sequence } = chain
  let packed = chain.packed_sequence
  for (let block = blockOf(packed + 1); lastOfBlock(block) <= sequence; block++) {
    const last = lastOfBlock(block)
    const rows = await database.read<{ sequence: number; body: string }>(
      `select sequence, body from audit_body
       where organization_id = $1 and sequence > $2 and sequence <= $3 and length(body) <= ${maxPackedCharacters}`,
      [organizationId, packed, last],
    )
    const bodies = new Map(rows.map((row) => [row.sequence, row.body]))
    const position = { organizationId, block, packed, last }
    const statements = bodies.size === 0 ? [] : packing(position, await packBlock(block, bodies), bodies.size)
    if (!(await didMove(database, position, statements))) return
    packed = last
  }
}

type Position = {
  readonly organizationId: string
  readonly block: number
  readonly packed: number
  readonly last: number
}

const packing = ({ organizationId, block, packed, last }: Position, bodies: Uint8Array, count: number): Statement[] => [
  {
    sql: `insert into audit_block (organization_id, block, bodies) values ($1, $2, $3)
      on conflict (organization_id, block) do nothing`,
    params: [organizationId, block, bodies],
  },
  {
    sql: `delete from audit_body
      where organization_id = $1 and sequence > $2 and sequence <= $3 and length(body) <= ${maxPackedCharacters}`,
    params: [organizationId, packed, last],
    expect: count, // retention may have removed some since they were read
  },
]

/** False if another node has packed the block, or retention removed some of its events. */
async function didMove(database: Database, position: Position, statements: readonly Statement[]): Promise<boolean> {
  const { organizationId, packed, last } = position
  const move = {
    sql: 'update audit_chain set packed_sequence = $2 where organization_id = $1 and packed_sequence = $3',
    params: [organizationId, last, packed],
    expect: 1,
  }
  try {
    await database.write([move, ...statements], { waitsForDisk: false })
    return true
  } catch (error) {
    if (error instanceof UnexpectedRows) return false
    throw error
  }
}

/** Whether bodies may be staged: not while a node of the version before may still read the log. Such a node cannot start again. */
export async function canStageBodies(database: Database): Promise<boolean> {
  if (database.engine === 'sqlite') return true
  const [row] = await database.read<{ old: number }>('select count(*) as old from node where reads_blocks is null')
  return row?.old === 0
}
