import { kindNames, rollupKinds, type RollupKind } from '../../../../domain/rollup/kinds.ts'
import { removeBefore, removeUsersBefore } from '../../../../domain/rollup/retention.ts'
import type { Database, Statement } from '../database.ts'
import { keyColumns } from './columns.ts'
import { rollupLock } from './fold.ts'

/** Rows of one step, so that no request waits long for it. */
const sliceSize = 1_000

type Retention = { readonly nowSeconds: number; readonly userDays: number }

/** Removes sums that are older than reports read them. */
export async function trimRollup(database: Database, { nowSeconds, userDays }: Retention): Promise<void> {
  for (const kind of kindNames)
    for (const step of rollupKinds[kind].steps) {
      const before = kind === 'user' ? removeUsersBefore(step, nowSeconds, userDays) : removeBefore(step, nowSeconds)
      while (await removeSlice(database, { sql: deletionOf(kind), params: [kind, step, before] })) continue
    }
}

async function removeSlice(database: Database, deletion: Statement): Promise<boolean> {
  const results = await database.write([...rollupLock(database.engine), deletion], { waitsForDisk: false })
  return results.at(-1)?.changed === sliceSize
}

/** Starts from the organizations, so that an engine reads the old rows of each and not the whole table. */
function deletionOf(kind: RollupKind): string {
  const key = keyColumns.join(', ')
  return `delete from rollup where (${key}) in (
    select ${keyColumns.map((column) => `r.${column}`).join(', ')} from organization o
    join rollup r on r.organization_id = o.id and r.kind = $1 and r.step = $2
      ${kind === 'policy' ? '' : `and r.subject = ''`} and r.start_time < $3
    limit ${sliceSize})`
}
