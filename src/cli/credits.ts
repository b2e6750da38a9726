import type { CreditBalance, ShownEntry } from '../app/operations/credits.ts'
import type { Operations } from '../app/operations/operations.ts'
import { inOrganization, readArguments, readCount, readNumber, required } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { runOnServer, type Work } from './run-command.ts'
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
  summary: 'Grant credits, show balances and what they were used for',
  usage: `gatehouse credits balance [--org ID] [--json]
gatehouse credits grant CREDITS [--ref REF] [--note TEXT] [--org ID] [--json]
gatehouse credits ledger [--limit N] [--org ID] [--json]

--org may be left out while there is only one organization. A --ref is granted once, however often it is sent.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'balance', amount] = positionals
    return runOnServer(context, values, verbOf(verb, amount, values))
  },
}

function verbOf(verb: string, amount: string | undefined, values: Values): Work {
  const where = inOrganization(values)
  if (verb === 'balance') return told((operations) => operations['credits.balance'](where))
  if (verb === 'ledger') return listed(where, readCount(values.limit, '--limit') ?? 20)
  if (verb !== 'grant') throw new UsageError(`There is no credits ${verb}.`)
  const grant = {
    ...where,
    credits: readNumber(required(amount, 'The number of credits'), 'The number of credits') ?? 0,
    ...(values.ref === undefined ? {} : { ref: values.ref }),
    ...(values.note === undefined ? {} : { note: values.note }),
  }
  return told((operations) => operations['credits.grant'](grant))
}

const told =
  (ask: (operations: Operations) => Promise<CreditBalance & { readonly is_new?: boolean }>): Work =>
  async ({ operations }) => {
    const answer = await ask(operations)
    return { answer, text: balanceText(answer) }
  }

const listed =
  (where: { organization?: string }, limit: number): Work =>
  async ({ operations }) => {
    const answer = await operations['credits.ledger']({ ...where, limit })
    return { answer, text: table(['AT', 'KIND', 'CREDITS', 'REF', 'NOTE'], answer.map(rowOf)) }
  }

const rowOf = (entry: ShownEntry): string[] => [
  dateOf(entry.created_at),
  entry.kind,
  entry.credits.toFixed(6),
  entry.ref,
  entry.receipt?.model ?? entry.note,
]

export function balanceText(balance: CreditBalance & { readonly is_new?: boolean }): string {
  const { remaining_credits: remaining, debt_credits: debt, granted_credits: granted, spent_credits: spent } = balance
  const known = balance.is_new === false ? 'This reference was granted before; nothing was added.\n' : ''
  const owed = debt > 0 ? `, ${debt} owed` : ''
  return `${known}${balance.organization_id}: ${remaining} credits left${owed} (${granted} granted, ${spent} spent)`
}
