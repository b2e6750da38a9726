import { connect } from '../app/operations/open.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'

export const migrateCommand: Command = {
  summary: 'Bring the database up to date',
  usage: `gatehouse migrate [--json]

serve does the same when it starts; several nodes may do it at once.`,
  async run({ args, config, say }) {
    const { values } = readArguments(args, { json: { type: 'boolean' } })
    await using house = await connect(config())
    const applied = house.migrationsApplied
    if (values.json) say(JSON.stringify({ applied }))
    else say(applied === 0 ? 'The database is up to date.' : `Migrations applied: ${applied}.`)
    return 0
  },
}
