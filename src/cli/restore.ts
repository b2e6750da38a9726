import { resolve } from 'node:path'
import { restore as restoreFolder } from '../app/storage/backup.ts'
import { readArguments, required } from './arguments.ts'
import { backupJson, describe } from './backup.ts'
import type { Command } from './command.ts'

export const restoreCommand: Command = {
  summary: 'Restore a backup into the data folder',
  usage: `gatehouse restore FILE [--replace] [--json]

  --replace  first move an existing database into a subfolder

Stop the server first. Everything since the backup is undone: keys that were revoked since then work again, and later charges
and audit events are lost. docs/guide/backup.md lists what to check afterwards.`,
  async run({ args, config, print }) {
    const options = { replace: { type: 'boolean' }, json: { type: 'boolean' } } as const
    const { values, positionals } = readArguments(args, options, 1)
    const file = resolve(required(positionals[0], 'FILE'))
    const settings = config()
    const restored = await restoreFolder(settings, { file, replace: values.replace === true })
    const { replacedDir } = restored
    if (values.json) {
      print(JSON.stringify({ ...backupJson(file, restored), replaced: replacedDir ?? null }, null, 2))
      return 0
    }
    print(`Restored into ${settings.storage.data_dir}: ${describe(restored)}`)
    if (replacedDir !== undefined) print(`The database before is in ${replacedDir}.`)
    print('Start the server, then check: gatehouse ledger verify, gatehouse audit verify.')
    return 0
  },
}
