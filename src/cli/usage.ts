import type { UsageBody } from '../http/admin/usage/schema.ts'
import type { ApiClient, ApiQuery } from '../app/client/api-client.ts'
import { readArguments, readList, readPastTime } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { dateOf, table } from './table.ts'

const options = {
  org: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  by: { type: 'string' },
  bucket: { type: 'string' },
  json: { type: 'boolean' },
} as const

type Result = UsageBody['data'][number]['results'][number]

/** What `--by` accepts: the name of the API, and the field of its results. */
const groups: Readonly<Record<string, { readonly name: string; readonly field: keyof Result }>> = {
  project: { name: 'project', field: 'project_id' },
  key: { name: 'api_key', field: 'api_key_id' },
  model: { name: 'model', field: 'model' },
  user: { name: 'user', field: 'user_id' },
}

export const usage: Command = {
  summary: 'Show requests, tokens and costs',
  isRemote: true,
  usage: `gatehouse usage [--from TIME] [--to TIME] [--by project,key,model,user] [--bucket hour|day|total] [--org ID] [--json]

Shows the last seven days by day unless told otherwise. TIME is 2027-01-31, or 7d for a week ago; times are in UTC.
--org may be left out while there is only one organization.`,
  async run(context) {
    const { values } = readArguments(context.args, options)
    const by = [...new Set(readList(values.by))]
    const groupBy = by.map(groupOf)
    return runOnServer(context, values, async ({ client, clock }) => {
      const response = await readUsage(client, {
        start_time: readPastTime(values.from, clock.nowMs()),
        end_time: readPastTime(values.to, clock.nowMs()),
        bucket: values.bucket,
        group_by: groupBy.map(({ name }) => name),
      })
      return { json: response, text: describe(response, by) }
    })
  },
}

/** All pages as one. */
async function readUsage(client: ApiClient, query: ApiQuery): Promise<UsageBody> {
  const read = (page?: string) => client.get<UsageBody>('/v1/organization/usage', { ...query, page })
  let all = await read()
  while (all.next_page !== null) {
    const next = await read(all.next_page)
    all = { ...next, data: [...all.data, ...next.data] }
  }
  return all
}

function groupOf(word: string) {
  const group = Object.hasOwn(groups, word) ? groups[word] : undefined
  if (group) return group
  throw new UsageError(`--by: ${word} is not one of ${Object.keys(groups).join(', ')}.`)
}

function describe({ data, start_time: from, end_time: to }: UsageBody, by: readonly string[]): string {
  const rows = data.flatMap(({ start_time: start, results }) =>
    results.map((result) => [
      dateOf(start),
      ...by.map((word) => String(result[groupOf(word).field] ?? '-')),
      String(result.requests),
      String(result.input_tokens + result.cache_read_tokens + result.cache_write_tokens),
      String(result.output_tokens),
      result.cost_usd.toFixed(6),
    ]),
  )
  if (rows.length === 0) return `No usage from ${dateOf(from)} to ${dateOf(to)}.`
  const titles = by.map((word) => word.toUpperCase())
  return table(['FROM', ...titles, 'REQUESTS', 'INPUT TOKENS', 'OUTPUT TOKENS', 'USD'], rows)
}
