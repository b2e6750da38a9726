import { openOperations } from '../app/open.ts'
import { readArguments } from './arguments.ts'
import { UsageError, type Command } from './command.ts'

export const ledger: Command = {
  summary: 'Check that the ledger adds up',
  usage: `gatehouse ledger verify [--json]

Recomputes every balance, slice and receipt from the entries. Ends with 1 and names the first row that does not fit.`,
  async run({ args, config, say }) {
    const { values, positionals } = readArguments(args, { json: { type: 'boolean' } }, 1)
    const [verb = 'verify'] = positionals
    if (verb !== 'verify') throw new UsageError(`There is no ledger ${verb}.`)
    await using house = await openOperations(config())
    const found = await house.operations['ledger.verify']({})
    const { organizations, entries, charges, slices, broken } = found
    const size = `${organizations} accounts, ${entries} entries, ${charges} charges, ${slices} slices`
    if (values.json) say(JSON.stringify(found, null, 2))
    else say(broken === null ? `All adds up: ${size}.` : `${broken.table} ${broken.id} ${broken.says} (of ${size}).`)
    return broken === null ? 0 : 1
  },
}
