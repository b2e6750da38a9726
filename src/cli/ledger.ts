import { readArguments } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { runOnServer } from './run-command.ts'

export const ledger: Command = {
  summary: 'Check that the ledger adds up',
  usage: `gatehouse ledger verify [--json]

Recomputes every balance, slice and receipt from the entries. Ends with 1 and names the first row that does not fit.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, { json: { type: 'boolean' } }, 1)
    const [verb = 'verify'] = positionals
    if (verb !== 'verify') throw new UsageError(`There is no ledger ${verb}.`)
    return runOnServer(context, values, async ({ operations }) => {
      const answer = await operations['ledger.verify']({})
      const { organizations, entries, charges, slices, broken } = answer
      const size = `${organizations} accounts, ${entries} entries, ${charges} charges, ${slices} slices`
      if (broken === null) return { answer, text: `All adds up: ${size}.` }
      return { answer, text: `${broken.table} ${broken.id} ${broken.says} (of ${size}).`, isRefused: true }
    })
  },
}
