import { kindNames, rollupKinds, type RollupKind } from '../../../../domain/rollup/kinds.ts'
import { forgetUsersBefore, removeBefore, removeUsersBefore } from '../../../../domain/rollup/retention.ts'
import type { Database, Statement, Value } from '../database.ts'
import { dimensionColumns, keyColumns, sumColumns } from './columns.ts'
import { rollupLock } from './fold.ts'

/** Rows of one step, so that no request waits long for it. */
const sliceSize = 1_000

type Retention = { readonly nowSeconds: number; readonly userDays: number }

/** Removes sums that are older than reports read them. */
export async function trimRollup(database: Database, { nowSeconds, userDays }: Retention): Promise<void> {
  for (const kind of kindNames)
    for (const step of rollupKinds[kind].steps) {
      const before = kind === 'user' ? removeUsersBefore(step, nowSeconds, userDays) : removeBefore(step, nowSeconds)
      await inSlices(database, [{ sql: deletionOf(kind), params: [kind, step, before] }])
    }
  for (const step of rollupKinds.cost.steps)
    await forgetUsers(database, ['cost', step, forgetUsersBefore(nowSeconds, userDays)])
}

/** The last statement changes a slice of rows. */
async function inSlices(database: Database, statements: readonly Statement[]): Promise<void> {
  let changed: number | undefined = sliceSize
  while (changed === sliceSize) {
    const results = await database.write([...rollupLock(database.engine), ...statements], { waitsForDisk: false })
    changed = results.at(-1)?.changed
  }
}

const key = keyColumns.join(', ')

/** Starts from the organizations, so that an engine reads the old rows of each and not the whole table. */
const oldRows = (columns: string, condition: string): string =>
  `select ${columns} from organization o
    join rollup r on r.organization_id = o.id and r.kind = $1 and r.step = $2 ${condition} and r.start_time < $3`

const ofRow = (column: string): string => `r.${column}`

function deletionOf(kind: RollupKind): string {
  const condition = kind === 'policy' ? '' : `and r.subject = ''`
  return `delete from rollup where (${key}) in (${oldRows(keyColumns.map(ofRow).join(', '), condition)} limit ${sliceSize})`
}

const isNamed = `and r.subject = '' and r.user_id <> ''`

/** The rows of a slice have an order, so that several statements read the same ones. */
const named = `${oldRows(keyColumns.map(ofRow).join(', '), isNamed)} and r.start_time >= $4
  order by ${keyColumns.map(ofRow).join(', ')} limit ${sliceSize}`

const nameless = [
  'organization_id',
  'kind',
  'step',
  'start_time',
  ...dimensionColumns('cost').filter((column) => column !== 'user_id'),
].join(', ')

const sums = sumColumns('cost')

const addition = `insert into rollup (${nameless}, ${sums.join(', ')})
  select ${nameless}, ${sums.map((column) => `cast(sum(${column}) as bigint)`).join(', ')} from rollup
  where (${key}) in (${named}) group by ${nameless}
  on conflict (${key}) do update set ${sums.map((column) => `${column} = rollup.${column} + excluded.${column}`).join(', ')}`

/** Adds the rows of old names to the rows without a name. The first of them is looked for without delaying a request. */
async function forgetUsers(database: Database, old: readonly Value[]): Promise<void> {
  const [row] = await database.report<{ first: number | null }>(oldRows('min(r.start_time) as first', isNamed), old)
  const first = row?.first ?? null
  if (first === null) return
  const params = [...old, first]
  await inSlices(database, [
    { sql: addition, params },
    { sql: `delete from rollup where (${key}) in (${named})`, params },
  ])
}
