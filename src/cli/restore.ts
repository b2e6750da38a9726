import { resolve } from 'node:path'
import { restore as restoreFolder } from '../app/backup.ts'
import { readArguments, required } from './arguments.ts'
import { backupJson, describe } from './backup.ts'
import type { Command } from './command.ts'

export const restoreCommand: Command = {
  summary: 'Put a backup into the data folder',
  usage: `gatehouse restore FILE [--replace] [--json]

  --replace  move a database that is there into a folder beside it first

The server must be stopped. What happened after the backup was made is undone: keys that were revoked since then work
again, and later charges and audit events are gone. docs/guide/backup.md says what to check afterwards.`,
  async run({ args, config, say }) {
    const options = { replace: { type: 'boolean' }, json: { type: 'boolean' } } as const
    const { values, positionals } = readArguments(args, options, 1)
    const file = resolve(required(positionals[0], 'FILE'))
    const settings = config()
    const restored = await restoreFolder(settings, { file, replace: values.replace === true })
    const { replacedDir } = restored
    if (values.json) {
      say(JSON.stringify({ ...backupJson(file, restored), replaced: replacedDir ?? null }, null, 2))
      return 0
    }
    say(`Restored into ${settings.storage.data_dir}: ${describe(restored)}`)
    if (replacedDir !== undefined) say(`What was there before is in ${replacedDir}.`)
    say('Start the server, then check: gatehouse ledger verify, gatehouse audit verify.')
    return 0
  },
}
