import { openOperations } from '../app/open.ts'
import { readArguments, required } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { dateOf, table } from './table.ts'

export const orgs: Command = {
  summary: 'List and create organizations',
  usage: `gatehouse orgs list [--json]
gatehouse orgs create --name NAME [--json]`,
  async run({ args, config, say }) {
    const { values, positionals } = readArguments(args, { name: { type: 'string' }, json: { type: 'boolean' } })
    const [verb = 'list'] = positionals
    if (verb !== 'list' && verb !== 'create') throw new UsageError(`There is no orgs ${verb}.`)
    const name = verb === 'create' ? required(values.name, '--name') : ''
    await using house = await openOperations(config())
    const found =
      verb === 'create' ? [await house.operations['orgs.create']({ name })] : await house.operations['orgs.list']({})
    if (values.json) say(JSON.stringify(verb === 'create' ? found[0] : found, null, 2))
    else
      say(
        table(
          ['ID', 'NAME', 'PLAN', 'CREATED'],
          found.map((org) => [org.id, org.name, org.plan, dateOf(org.createdAtMs)]),
        ),
      )
    return 0
  },
}
