import type { LedgerVerificationBody } from '../app/api-types.ts'
import { readArguments } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { runOnServer } from './run-command.ts'

export const ledger: Command = {
  summary: 'Verify the credit ledger',
  usage: `gatehouse ledger verify [--json]

Computes every balance, slice and receipt again from the entries. If a row does not fit, prints the first one and exits with 1.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, { json: { type: 'boolean' } }, 1)
    const [verb = 'verify'] = positionals
    if (verb !== 'verify') throw new UsageError(`There is no ledger ${verb}.`)
    return runOnServer(context, values, async ({ client }) => {
      const answer = await client.get<LedgerVerificationBody>('/operator/ledger/verification')
      const { organizations, entries, charges, slices, broken } = answer
      const size = `${organizations} accounts, ${entries} entries, ${charges} charges, ${slices} slices`
      if (broken === null) return { answer, text: `All adds up: ${size}.` }
      return { answer, text: `${broken.table} ${broken.id} ${broken.says} (of ${size}).`, isFailed: true }
    })
  },
}
