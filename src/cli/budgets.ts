import { apiPath, type ApiClient } from '../app/client/api-client.ts'
import { isRecord } from '../base/record.ts'
import type { BudgetStatusBody } from '../http/admin/budgets/report-schema.ts'
import type { BudgetBody } from '../http/admin/budgets/schema.ts'
import { readArguments, required } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { runOnServer, type Result } from './run-on-server.ts'
import { dateOf, table, tableWithOwners } from './table.ts'
import { readYamlFile } from './yaml-file.ts'

const options = {
  org: { type: 'string' },
  file: { type: 'string', short: 'f' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']
type Call = { readonly client: ApiClient; readonly id: string; readonly values: Values }

export const budgetsPath = '/v1/organization/budgets'
const pathOf = (id: string): string => apiPath`/v1/organization/budgets/${id}`

export const budgets: Command = {
  summary: 'Limit what projects, keys, users and teams spend in a period',
  isRemote: true,
  usage: `gatehouse budgets list [--org ID] [--json]
gatehouse budgets show|status BUDGET [--org ID] [--json]
gatehouse budgets create -f FILE [--org ID] [--json]
gatehouse budgets update BUDGET -f FILE [--org ID] [--json]
gatehouse budgets pause|resume|delete BUDGET [--org ID] [--json]

BUDGET is the id of a budget or its name. FILE is YAML or JSON with the fields that docs/guide/budgets.md describes (name, amount_usd, period
and so on); --file is the same as -f. update changes the fields that the file has. status says what was spent in the current period, and by whom. --org may be left out while there is only one
organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', id = ''] = positionals
    const work = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    if (!work) throw unknownSubcommand('budgets', verb)
    if (verb !== 'list' && verb !== 'create') required(id, 'The id or the name of the budget')
    if (verb === 'create' || verb === 'update') required(values.file, '-f FILE')
    return runOnServer(context, values, ({ client }) => work({ client, id, values }))
  },
}

const verbs: Readonly<Record<string, (call: Call) => Promise<Result>>> = {
  async list({ client }) {
    const response = await client.list<BudgetBody>(budgetsPath)
    const rows = response.data.map((budget) => ({
      managed_by: budget.managed_by,
      cells: [budget.id, budget.name, amountText(budget), budget.per, budget.action, budget.state],
    }))
    return { json: response, text: tableWithOwners(['ID', 'NAME', 'AMOUNT', 'PER', 'ACTION', 'STATE'], rows) }
  },
  show: async (call) => resultOf(await find(call)),
  async status(call) {
    const { id } = await find(call)
    const status = await call.client.get<BudgetStatusBody>(`${pathOf(id)}/status`)
    return { json: status, text: statusText(status) }
  },
  async create({ client, values }) {
    return resultOf(await client.post<BudgetBody>(budgetsPath, fileOf(values)))
  },
  update: (call) => change(call, fileOf(call.values)),
  pause: (call) => change(call, { state: 'paused' }),
  resume: (call) => change(call, { state: 'active' }),
  async delete(call) {
    const { id, name } = await find(call)
    const { body: response } = await call.client.request('DELETE', pathOf(id))
    return { json: response, text: `${name} (${id}) is deleted.` }
  },
}

/** By its id, else by its name. */
async function find({ client, id }: Call): Promise<BudgetBody> {
  if (id.startsWith('bud_')) return client.get<BudgetBody>(pathOf(id))
  const { data } = await client.list<BudgetBody>(budgetsPath, { search: id })
  const found = data.find(({ name }) => name === id)
  if (found !== undefined) return found
  throw new Error(`There is no budget ${id}.`)
}

/** The change names the revision that was read, so that it replaces no other change. */
async function change(call: Call, body: Readonly<Record<string, unknown>>): Promise<Result> {
  const { id, revision } = await find(call)
  const changed = { revision, ...body }
  return resultOf((await call.client.request<BudgetBody>('PATCH', pathOf(id), { body: changed })).body)
}

/** A budget as a file; also in the form that `show --json` prints. */
function fileOf({ file = '' }: Values): Readonly<Record<string, unknown>> {
  const whole = readYamlFile(file)
  if (!isRecord(whole)) throw new Error(`${file}: there must be a budget.`)
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !readOnly.has(name)))
}

/** Fields of answers that no request has. The revision is that which the command reads. */
const readOnly: ReadonlySet<string> = new Set(['id', 'object', 'created_at', 'updated_at', 'revision', 'managed_by'])

const amountText = ({ amount_usd: usd, tokens, requests, period }: BudgetBody): string => {
  const amount = usd !== null ? `${usd} USD` : tokens !== null ? `${tokens} tokens` : `${requests ?? 0} requests`
  return period === 'once' ? `${amount} once` : `${amount} a ${period}`
}

function statusText({
  period_start: start,
  period_end: end,
  unit,
  members,
  has_more: hasMore,
}: BudgetStatusBody): string {
  const heads = ['MEMBER', `SPENT (${unit.toUpperCase()})`, 'HELD', 'AMOUNT', 'LEFT', 'SHARE', 'FORECAST']
  const rows = members.map((each) => [
    each.member === null ? 'all' : each.name === null ? each.member : `${each.name} (${each.member})`,
    String(each.spent),
    each.held === null ? '' : String(each.held),
    String(each.amount),
    String(each.left),
    `${each.percent} %`,
    each.forecast === null ? '' : String(each.forecast),
  ])
  const more = hasMore ? ['', 'Further members have spent less.'] : []
  return [`since ${dateOf(start)}${end === null ? '' : ` until ${dateOf(end)}`}`, '', table(heads, rows), ...more].join(
    '\n',
  )
}

function resultOf(budget: BudgetBody): Result {
  const { match, extra } = budget
  const conditions = Object.entries({
    projects: match.project_ids,
    keys: match.api_key_ids,
    models: match.models,
    users: match.users,
    ...Object.fromEntries(Object.entries(match.tags).map(([name, values]) => [`tag ${name}`, values])),
  }).filter(([, values]) => values.length > 0)
  const lines = [
    `${budget.id}  ${budget.name}`,
    `${amountText(budget)} in ${budget.time_zone}, per ${budget.per}, ${budget.action}, ${budget.state}`,
    ...conditions.map(([name, values]) => `${name}: ${values.join(', ')}`),
    ...(extra ? [`extra ${extra.amount} until ${dateOf(extra.until)}: ${extra.reason}`] : []),
  ]
  return { json: budget, text: lines.join('\n') }
}
