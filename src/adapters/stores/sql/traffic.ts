import {
  latencyBounds,
  type TrafficGroup,
  type TrafficQuery,
  type TrafficStore,
  type TrafficSum,
} from '../../../domain/traffic/traffic.ts'
import { plainRequest } from './audit/rows.ts'
import { UnexpectedRows, type Database, type Statement } from './database.ts'

/** Events of one step. The thread of the embedded engine does nothing else meanwhile. */
const maxEvents = 2_000
/** Organizations of one run. */
const maxOrganizations = 500

const minute = 60
const hour = 3_600

const buckets = Array.from({ length: latencyBounds.length + 1 }, (_, at) => `latency_${at}`)
const sums = ['requests', 'input_tokens', 'output_tokens', 'cost_micro_usd', ...buckets]

/** A table of sums: the columns that it groups by beside organization and time, and their values in an event. */
type SumTable = { readonly name: string; readonly groups: Readonly<Record<string, string>> }

const status = "coalesce(status, 'ok')"

const bySubject: SumTable = {
  name: 'traffic',
  groups: {
    project_id: "coalesce(project_id, '')",
    model: "coalesce(model, '')",
    upstream: "coalesce(upstream, '')",
    decision: "coalesce(decision, '')",
    status,
  },
}
const byKey: SumTable = { name: 'traffic_by_key', groups: { actor_id: "coalesce(actor_id, '')", status } }
const tables = [bySubject, byKey]

const keysOf = ({ groups }: SumTable): string[] => ['organization_id', 'step', 'start_time', ...Object.keys(groups)]

const addToRow = (table: SumTable): string => `on conflict (${keysOf(table).join(', ')}) do update set
  ${sums.map((column) => `${column} = ${table.name}.${column} + excluded.${column}`).join(', ')}`

const integerSum = (expression: string): string => `cast(coalesce(sum(${expression}), 0) as bigint)`

/** Whether a latency is in a bucket, as 0 or 1. Rejected requests without a latency are in none. */
function isInBucket(_: string, at: number): string {
  const [from, to] = [latencyBounds[at - 1], latencyBounds[at]]
  const conditions = [
    ...(from === undefined ? [] : [`latency_ms >= ${from}`]),
    ...(to === undefined ? [] : [`latency_ms < ${to}`]),
  ]
  return integerSum(`case when ${conditions.join(' and ')} then 1 else 0 end`)
}

const startOfMinute = `(time / ${minute * 1000}) * ${minute}`

/** Reads `audit_event_facts` alone. */
const addEvents = (table: SumTable): string => {
  const groups = Object.values(table.groups)
  return `insert into ${table.name} (${[...keysOf(table), ...sums].join(', ')})
    select organization_id, ${minute}, ${startOfMinute}, ${groups.join(', ')}, count(*), ${integerSum('input_tokens')},
      ${integerSum('output_tokens')}, ${integerSum('cost_micro_usd')}, ${buckets.map(isInBucket).join(', ')}
    from audit_event where organization_id = $1 and code = '${plainRequest}' and sequence > $2 and sequence <= $3
    group by organization_id, ${startOfMinute}, ${groups.join(', ')}
    ${addToRow(table)}`
}

const mergeIntoHours = (table: SumTable): string => {
  const groups = Object.keys(table.groups).join(', ')
  return `insert into ${table.name} (${[...keysOf(table), ...sums].join(', ')})
    select organization_id, ${hour}, (start_time / ${hour}) * ${hour}, ${groups}, ${sums.map(integerSum).join(', ')}
    from ${table.name} where step = ${minute} and start_time < $1
    group by organization_id, (start_time / ${hour}) * ${hour}, ${groups}
    ${addToRow(table)}`
}

type Behind = { organization_id: string; from_sequence: number; to_sequence: number }

export function trafficStore(database: Database): TrafficStore {
  return {
    async addNewEvents() {
      const behind = await database.read<Behind>(
        `select h.organization_id, coalesce(c.sequence, 0) as from_sequence, h.sequence as to_sequence
         from audit_chain h left join traffic_cursor c on c.organization_id = h.organization_id
         where h.sequence > coalesce(c.sequence, 0) limit ${maxOrganizations}`,
      )
      for (const row of behind) await addFrom(database, row)
      return behind.length < maxOrganizations && behind.every((row) => stepsOf(row) <= 1)
    },
    async sums(query) {
      const { organizationId, from, to, step, groupBy, limit } = query
      const start = `(start_time / ${step}) * ${step}`
      // Both steps are named, because an engine otherwise reads every row of the organization.
      const group = groupBy === undefined ? [] : [columnOf[groupBy]]
      const table = groupBy === 'key' ? byKey : bySubject
      const rows = await database.report<SumRow>(
        `select ${start} as start_time, ${group[0] ?? "''"} as grouped, ${sums.map((column) => `${integerSum(column)} as ${column}`).join(', ')},
           ${integerSum("case when status = 'denied' then requests else 0 end")} as denied,
           ${integerSum("case when status = 'error' then requests else 0 end")} as errors
         from ${table.name} where organization_id = $1 and step in (${minute}, ${hour}) and start_time >= $2 and start_time < $3
         group by ${[start, ...group].join(', ')} order by 1, 2${limit === undefined ? '' : ` limit ${Math.trunc(limit)}`}`,
        [organizationId, from, to],
      )
      return rows.map((row) => sumOf(row, query))
    },
    async mergeMinutes(beforeSeconds) {
      const before = Math.floor(beforeSeconds / hour) * hour
      await database.write(
        tables.flatMap((table) => [
          { sql: mergeIntoHours(table), params: [before] },
          { sql: `delete from ${table.name} where step = ${minute} and start_time < $1`, params: [before] },
        ]),
      )
    },
    async removeBefore(seconds) {
      await database.write(
        tables.map(({ name }) => ({ sql: `delete from ${name} where start_time < $1`, params: [seconds] })),
      )
    },
  }
}

const columnOf: Readonly<Record<TrafficGroup, string>> = {
  decision: 'decision',
  status: 'status',
  model: 'model',
  project: 'project_id',
  upstream: 'upstream',
  key: 'actor_id',
}

const stepsOf = ({ from_sequence: from, to_sequence: to }: Behind): number => Math.ceil((to - from) / maxEvents)

/** Moves the cursor and adds the events up to it, in one step. If another node moved it first, that node has added them. */
async function addFrom(
  database: Database,
  { organization_id: id, from_sequence: from, to_sequence: last }: Behind,
): Promise<void> {
  const to = Math.min(last, from + maxEvents)
  const moveCursor: Statement = {
    sql: `insert into traffic_cursor (organization_id, sequence) values ($1, $3)
      on conflict (organization_id) do update set sequence = excluded.sequence where traffic_cursor.sequence = $2`,
    params: [id, from, to],
    expect: 1,
  }
  try {
    const additions = tables.map((table) => ({ sql: addEvents(table), params: [id, from, to] }))
    await database.write([moveCursor, ...additions], { waitsForDisk: false })
  } catch (error) {
    if (!(error instanceof UnexpectedRows)) throw error
  }
}

type SumRow = { start_time: number; grouped: string; denied: number; errors: number } & Record<string, number | string>

const sumOf = (row: SumRow, { groupBy }: TrafficQuery): TrafficSum => ({
  startTime: row.start_time,
  group: groupBy === undefined ? undefined : row.grouped,
  requests: Number(row['requests']),
  denied: row.denied,
  errors: row.errors,
  inputTokens: Number(row['input_tokens']),
  outputTokens: Number(row['output_tokens']),
  costMicroUsd: Number(row['cost_micro_usd']),
  latency: buckets.map((column) => Number(row[column])),
})
