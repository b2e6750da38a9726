import { connect } from '../app/connect.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'

export const migrateCommand: Command = {
  summary: 'Apply database migrations',
  usage: `gatehouse migrate [--json]

serve does the same when it starts. Several nodes may run it at the same time.`,
  async run({ args, config, print }) {
    const { values } = readArguments(args, { json: { type: 'boolean' } })
    await using connection = await connect(config(), { mayCreate: true })
    const applied = connection.migrationsApplied
    if (values.json) print(JSON.stringify({ applied }))
    else print(applied === 0 ? 'The database is up to date.' : `Migrations applied: ${applied}.`)
    return 0
  },
}
