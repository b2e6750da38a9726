import { Fault } from '../../../../base/fault.ts'
import { toUnixSeconds, type Clock } from '../../../../base/clock.ts'
import {
  isModel,
  type CostDimension,
  type CostFilter,
  type CostQuery,
  type CostStore,
  type CostSum,
} from '../../../../domain/costs/costs.ts'
import { tagsOfText } from '../../../../domain/costs/tags.ts'
import { addSums, storable } from '../../../../domain/rollup/entry.ts'
import type { RollupDimension } from '../../../../domain/rollup/kinds.ts'
import type { DimensionFilter, RollupGroup } from '../../../../domain/rollup/report.ts'
import { readUsersFrom } from '../../../../domain/rollup/retention.ts'
import { wholePeriod } from '../../../../domain/rollup/subject-sums.ts'
import type { Transaction } from '../database.ts'
import { readRollup } from './read.ts'

export type CostParts = {
  readonly clock: Pick<Clock, 'nowMs'>
  /** How long the names of end users are kept. */
  readonly userDays: number
}

/** The costs of requests, in SQL. */
export const costStore = (query: Transaction['query'], { clock, userDays }: CostParts): CostStore => ({
  async sums(wanted) {
    const nowSeconds = toUnixSeconds(clock.nowMs())
    const { from, to, filter = {} } = wanted
    const read = async (period: Pick<CostQuery, 'from' | 'to'>, groupBy: readonly RollupDimension[]): Promise<Row[]> =>
      (await readRollup(query, rollupQueryOf({ ...wanted, ...period }, groupBy), nowSeconds)).map(rowReader(groupBy))
    const groupBy = dimensionsOf(wanted)
    const usersFrom = Math.min(to, Math.max(from, readUsersFrom(nowSeconds, userDays)))
    const hasUsers = groupBy.includes('userId') || (filter.users ?? []).length > 0
    // Names of before are removed, or about to be.
    const nameless = hasUsers && (filter.users ?? []).length === 0
    const rows = hasUsers ? await read({ from: usersFrom, to }, groupBy) : await read({ from, to }, groupBy)
    const before = nameless
      ? await read(
          { from, to: usersFrom },
          groupBy.filter((one) => one !== 'userId'),
        )
      : []
    const all = [...before, ...rows]
    if (all.length > (wanted.maxRows ?? Infinity)) throw tooManyRows()
    return groupRows(
      all.filter((row) => isMatch(row, filter)),
      wanted,
    )
  },
})

function tooManyRows(): Fault {
  const message = 'group_by: the period has too many groups. Request a shorter period, or fewer groups.'
  return new Fault('validation', 'invalid_parameter', message, { param: 'group_by' })
}

type Row = {
  readonly startTime: number
  readonly valueOf: (of: CostDimension) => string
  readonly sums: RollupGroup['sums']
}

const dimensionOf = { project: 'projectId', key: 'keyId', model: 'model', user: 'userId' } as const

const isTag = (of: CostDimension): of is `tag:${string}` => of.startsWith('tag:')

const storedAs = (of: CostDimension): RollupDimension => (isTag(of) ? 'tags' : dimensionOf[of])

/** What rows must have, to be grouped and filtered after they are read. */
function dimensionsOf({ groupBy, filter = {} }: CostQuery): RollupDimension[] {
  const hasPrefix = filter.models?.some((name) => name.endsWith('*')) ?? false
  const hasTags = Object.values(filter.tags ?? {}).some((values) => values.length > 0)
  return [
    ...new Set([
      ...groupBy.map(storedAs),
      ...(hasPrefix ? ['model' as const] : []),
      ...(hasTags ? ['tags' as const] : []),
    ]),
  ]
}

function rollupQueryOf(
  { organizationId, from, to, step = wholePeriod, filter = {}, maxRows }: CostQuery,
  groupBy: readonly RollupDimension[],
) {
  const { projectIds = [], keyIds = [], models = [], users = [] } = filter
  const exact = models.some((name) => name.endsWith('*')) ? [] : models
  const lists = [
    ['projectId', projectIds],
    ['keyId', keyIds],
    ['model', exact],
    ['userId', users],
  ] as const
  const only = lists.flatMap(([dimension, values]): DimensionFilter[] =>
    values.length === 0 ? [] : [{ dimension, values: values.map(storable), isNegated: false }],
  )
  const limit = maxRows === undefined ? {} : { limit: maxRows + 1 }
  return { organizationId, kind: 'cost', from, to, bucket: step, groupBy, only, ...limit } as const
}

function rowReader(groupBy: readonly RollupDimension[]): (group: RollupGroup) => Row {
  return ({ startTime, group, sums }) => {
    const valueIn = (dimension: RollupDimension): string => String(group[groupBy.indexOf(dimension)] ?? '')
    const tags = tagsOfText(valueIn('tags'))
    const valueOf = (of: CostDimension): string =>
      isTag(of) ? (tags[of.slice('tag:'.length)] ?? '') : valueIn(storedAs(of))
    return { startTime, valueOf, sums }
  }
}

/** The other filters are in the statement. */
function isMatch({ valueOf }: Row, { models = [], tags = {} }: CostFilter): boolean {
  const hasPrefix = models.some((name) => name.endsWith('*'))
  if (hasPrefix && !models.some((name) => isModel(valueOf('model'), name))) return false
  return Object.entries(tags).every(([name, values]) => values.length === 0 || values.includes(valueOf(`tag:${name}`)))
}

function groupRows(rows: readonly Row[], { groupBy, step }: CostQuery): CostSum[] {
  const groups = new Map<
    string,
    { readonly row: Row; readonly group: readonly string[]; readonly sums: readonly number[] }
  >()
  for (const row of rows) {
    const group = groupBy.map(row.valueOf)
    const key = JSON.stringify([row.startTime, group])
    const known = groups.get(key)
    groups.set(key, { row, group, sums: known === undefined ? row.sums : addSums(known.sums, row.sums) })
  }
  return Array.from(groups.values(), ({ row: { startTime }, group, sums }) => {
    const [requests = 0, inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0, costMicro = 0] =
      sums
    const counts = { requests, inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, costMicro }
    return { ...(step !== undefined && { startTime }), group, ...counts }
  })
}
