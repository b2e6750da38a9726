import { resolve } from 'node:path'
import { connect } from '../app/client/connect.ts'
import { moveToPostgres } from '../app/storage/move-to-postgres.ts'
import { readArguments } from './arguments.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { createMoveProgress, describeMove, moveJson } from './move-report.ts'

const options = { to: { type: 'string' }, from: { type: 'string' }, json: { type: 'boolean' } } as const

export const migrateCommand: Command = {
  summary: 'Apply database migrations, or move embedded storage to PostgreSQL',
  usage: `gatehouse migrate [--json]
gatehouse migrate --to URL [--from FILE] [--json]

Without --to, applies the migrations. serve does the same when it starts. Several nodes may run it at the same time.

  --to URL     move the data folder into the empty PostgreSQL database postgres://…; stop the server first
  --from FILE  move this backup in place of the data folder

The move copies every table, compares counts and sums, and verifies the audit logs and the ledger. It changes nothing in the data
folder. If it is interrupted, the same command continues. Leave the password out of URL and set PGPASSWORD, because other users
of the machine see arguments. docs/guide/scale-out.md has the steps.`,
  async run(context) {
    const { values } = readArguments(context.args, options)
    if (values.to !== undefined) return move(context, { ...values, to: values.to })
    if (values.from !== undefined) throw new UsageError('--from needs --to.')
    return applyMigrations(context, values)
  },
}

type Values = { readonly from?: string | undefined; readonly json?: boolean | undefined }

async function applyMigrations({ config, print }: CommandContext, { json }: Values): Promise<number> {
  await using connection = await connect(config(), { mayCreate: true })
  const applied = connection.migrationsApplied
  if (json) print(JSON.stringify({ applied }))
  else print(applied === 0 ? 'The database is up to date.' : `Migrations applied: ${applied}.`)
  return 0
}

async function move(context: CommandContext, { to, from, json }: Values & { readonly to: string }): Promise<number> {
  const { config, print, printError, progress } = context
  if (!/^postgres(ql)?:\/\//.test(to)) throw new UsageError('--to must be a URL that begins with postgres://.')
  const moved = await moveToPostgres(config(), {
    url: to,
    file: from === undefined ? undefined : resolve(from),
    // With --json, standard error is for the error alone.
    onProgress: createMoveProgress(progress ?? (json ? () => {} : printError), { isTerminal: progress !== undefined }),
  })
  progress?.('')
  print(json ? JSON.stringify(moveJson(moved), null, 2) : describeMove(moved))
  return moved.isComplete ? 0 : 1
}
