import type { CostsBody } from '../http/admin/costs/schema.ts'
import { readArguments, readCount, readList, readPastTime } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { dateOf, table } from './table.ts'

const texts = { type: 'string', multiple: true } as const

const options = {
  org: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  by: { type: 'string' },
  project: texts,
  key: texts,
  model: texts,
  user: texts,
  tag: texts,
  limit: { type: 'string' },
  csv: { type: 'boolean' },
  json: { type: 'boolean' },
} as const

const path = '/v1/organization/costs'

export const costs: Command = {
  summary: 'Show what requests cost, by project, key, model, user or tag',
  isRemote: true,
  usage: `gatehouse costs [--from TIME] [--to TIME] [--by project,key,model,user,tag:NAME,day] [--project ID] [--key ID] [--model NAME] [--user ID] [--tag NAME=VALUE] [--limit N] [--csv] [--org ID] [--json]

Shows the last 30 days unless told otherwise, the most expensive groups first, by project unless --by names up to three others.
TIME is 2027-01-31, or 7d for a week ago; times are in UTC. A filter that is repeated allows each of its values, and a model may
end with *. --csv prints all groups as CSV.
--org may be left out while there is only one organization.`,
  async run(context) {
    const { values } = readArguments(context.args, options)
    if (values.csv && values.json) throw new UsageError('--csv and --json exclude each other.')
    const by = [...new Set(readList(values.by) ?? ['project'])]
    const limit = readCount(values.limit, '--limit')
    return runOnServer(context, values, async ({ client, clock }) => {
      const query = {
        from: readPastTime(values.from, clock.nowMs()),
        to: readPastTime(values.to, clock.nowMs()),
        group_by: by,
        project_id: values.project,
        api_key_id: values.key,
        model: values.model,
        user_id: values.user,
        tag: values.tag,
      }
      if (values.csv) {
        const text = await client.getText(path, { ...query, limit: limit ?? 5_000, format: 'csv' })
        return { json: text, text, isData: true }
      }
      const response = await client.get<CostsBody>(path, { ...query, limit })
      return { json: response, text: describe(response, by) }
    })
  },
}

type Row = CostsBody['data'][number]
type Sums = CostsBody['total']

const cells: Readonly<Record<string, (row: Row) => string | null>> = {
  project: (row) => row.project_name ?? row.project_id,
  key: (row) => row.api_key_name ?? row.api_key_id,
  model: (row) => row.model,
  user: (row) => row.user_id,
  day: (row) => dateOf(row.day).slice(0, 10),
}

const cellOf = (row: Row, by: string): string => (cells[by]?.(row) ?? row.tags[by.slice('tag:'.length)]) || '-'

const sumsOf = (sums: Sums): string[] => [
  String(sums.requests),
  String(sums.input_tokens + sums.cache_read_tokens + sums.cache_write_tokens),
  String(sums.output_tokens),
  sums.cost_usd.toFixed(6),
]

function describe({ data, other, total, from, to }: CostsBody, by: readonly string[]): string {
  if (data.length === 0) return `No costs from ${dateOf(from)} to ${dateOf(to)}.`
  const named = (name: string, sums: Sums) => [...by.map((_, at) => (at === 0 ? name : '')), ...sumsOf(sums)]
  return table(
    [...by.map((word) => word.toUpperCase()), 'REQUESTS', 'INPUT TOKENS', 'OUTPUT TOKENS', 'USD'],
    [
      ...data.map((row) => [...by.map((word) => cellOf(row, word)), ...sumsOf(row)]),
      ...(other === null ? [] : [named('(other)', other)]),
      ...(by.length === 0 ? [] : [named('(total)', total)]),
    ],
  )
}
