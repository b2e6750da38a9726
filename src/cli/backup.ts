import { resolve } from 'node:path'
import { backUp, type BackupContents } from '../app/storage/backup.ts'
import { readArguments, required } from './arguments.ts'
import type { Command } from './command.ts'

export const backup: Command = {
  summary: 'Copy the embedded database into one file, also while the server runs',
  usage: `gatehouse backup FILE [--without-secret] [--json]

  --without-secret  leave the server secret out; store it elsewhere, because a restore needs it

The file contains all data and the server secret: protect it like the data folder. It is written with mode 600, verified
before it gets its name, and never overwrites another file. PostgreSQL has its own tools: see docs/guide/backup.md.`,
  async run({ args, config, print }) {
    const options = { 'without-secret': { type: 'boolean' }, json: { type: 'boolean' } } as const
    const { values, positionals } = readArguments(args, options, 1)
    const file = resolve(required(positionals[0], 'FILE'))
    const contents = await backUp(config(), { file, withSecret: values['without-secret'] !== true })
    print(values.json ? JSON.stringify(backupJson(file, contents), null, 2) : `${file}: ${describe(contents)}`)
    return 0
  },
}

export const backupJson = (file: string, { manifest, organizations, events }: BackupContents) => ({
  file,
  created_at: new Date(manifest.createdAtMs).toISOString(),
  version: manifest.version,
  with_secret: Object.keys(manifest.secretFiles).length > 0,
  organizations,
  audit_events: events,
})

/** Describes a backup in one sentence. */
export function describe({ manifest, organizations, events }: BackupContents): string {
  const createdAt = new Date(manifest.createdAtMs).toISOString()
  const secret = Object.keys(manifest.secretFiles).length > 0 ? 'with' : 'without'
  const counts = `organizations: ${organizations}, audit events: ${events}`
  return `created ${createdAt} by Gatehouse ${manifest.version}, ${secret} the server secret; ${counts}.`
}
