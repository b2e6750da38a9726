import type { BalanceBody, GrantBody } from '../http/admin/credits/balance-schema.ts'
import type { LedgerEntryBody } from '../http/admin/credits/schema.ts'
import { readArguments, readCount, readNumber, required } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { runOnServer, type Result, type Work } from './run-on-server.ts'
import { dateOf, table } from './table.ts'

const options = {
  org: { type: 'string' },
  ref: { type: 'string' },
  note: { type: 'string' },
  limit: { type: 'string' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const credits: Command = {
  summary: 'Grant and correct credits, show balances and ledger entries',
  isRemote: true,
  usage: `gatehouse credits balance [--org ID] [--json]
gatehouse credits grant CREDITS [--ref REF] [--note TEXT] [--org ID] [--json]
gatehouse credits correct CREDITS [--ref REF] [--note TEXT] [--org ID] [--json]
gatehouse credits ledger [--limit N] [--org ID] [--json]

--org may be left out while there is only one organization. The same --ref counts only once.\ncorrect takes granted credits back, as an entry of its own; it cannot make the balance negative.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'balance', amount] = positionals
    return runOnServer(context, values, verbOf(verb, amount, values))
  },
}

const changePaths = new Map([
  ['grant', '/v1/organization/credits/grants'],
  ['correct', '/v1/organization/credits/corrections'],
])

function verbOf(verb: string, amount: string | undefined, values: Values): Work {
  if (verb === 'balance') {
    return async ({ client }) => balanceResult(await client.get<BalanceBody>('/v1/organization/credits'))
  }
  if (verb === 'ledger') return listEntries(readCount(values.limit, '--limit') ?? 20)
  const path = changePaths.get(verb)
  if (path === undefined) throw unknownSubcommand('credits', verb)
  const change = {
    credits: readNumber(required(amount, 'The number of credits'), 'The number of credits') ?? 0,
    ...(values.ref === undefined ? {} : { ref: values.ref }),
    ...(values.note === undefined ? {} : { reason: values.note }),
  }
  return async ({ client }) => balanceResult(await client.post<GrantBody>(path, change))
}

const listEntries =
  (limit: number): Work =>
  async ({ client }) => {
    const response = await client.list<LedgerEntryBody>('/v1/organization/credits/ledger', { order: 'desc' }, limit)
    return { json: response, text: table(['AT', 'KIND', 'CREDITS', 'REF', 'NOTE'], response.data.map(rowOf)) }
  }

const rowOf = (entry: LedgerEntryBody): string[] => [
  dateOf(entry.created_at),
  entry.kind,
  entry.credits.toFixed(6),
  entry.ref,
  entry.receipt?.model ?? entry.note,
]

export const balanceResult = (response: BalanceBody | GrantBody): Result => ({
  json: response,
  text: balanceText(response),
})

function balanceText(balance: BalanceBody & { readonly is_new?: boolean }): string {
  const { remaining_credits: remaining, debt_credits: debt, granted_credits: granted, spent_credits: spent } = balance
  const repeated = balance.is_new === false ? 'This reference counted before; nothing was changed.\n' : ''
  const owed = debt > 0 ? `, ${debt} owed` : ''
  return `${repeated}${balance.organization_id}: ${remaining} credits left${owed} (${granted} granted, ${spent} spent)`
}
