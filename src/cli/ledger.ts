import type { LedgerVerificationBody } from '../app/api-types.ts'
import { readArguments } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'

export const ledger: Command = {
  summary: 'Verify the credit ledger',
  usage: `gatehouse ledger verify [--json]

Computes every balance, slice and receipt again from the entries. If a row is inconsistent, prints the first one and exits with 1.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, { json: { type: 'boolean' } }, 1)
    const [verb = 'verify'] = positionals
    if (verb !== 'verify') throw new UsageError(`There is no ledger ${verb}.`)
    return runOnServer(context, values, async ({ client }) => {
      const response = await client.get<LedgerVerificationBody>('/operator/ledger/verification')
      const { organizations, entries, charges, slices, broken } = response
      const size = `${organizations} accounts, ${entries} entries, ${charges} charges, ${slices} slices`
      if (broken === null) return { json: response, text: `The ledger is consistent: ${size}.` }
      return { json: response, text: `${broken.table} ${broken.id} ${broken.says} (of ${size}).`, isFailed: true }
    })
  },
}
