import { resolve } from 'node:path'
import { backUp, type BackupContents } from '../app/backup.ts'
import { readArguments, required } from './arguments.ts'
import type { Command } from './command.ts'

export const backup: Command = {
  summary: 'Copy the embedded database into one file, also while the server runs',
  usage: `gatehouse backup FILE [--without-secret] [--json]

  --without-secret  leave the server secret out; keep it elsewhere, a restore needs it

The file holds all data and the server secret: keep it as safe as the data folder. It is written with mode 600, is read
back before it gets its name, and never overwrites another. PostgreSQL has tools of its own: see docs/guide/backup.md.`,
  async run({ args, config, say }) {
    const options = { 'without-secret': { type: 'boolean' }, json: { type: 'boolean' } } as const
    const { values, positionals } = readArguments(args, options, 1)
    const file = resolve(required(positionals[0], 'FILE'))
    const contents = await backUp(config(), { file, withSecret: values['without-secret'] !== true })
    say(values.json ? JSON.stringify(backupJson(file, contents), null, 2) : `${file}: ${describe(contents)}`)
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

/** In words, with what is missing for a restore. */
export function describe({ manifest, organizations, events }: BackupContents): string {
  const made = new Date(manifest.createdAtMs).toISOString()
  const secret = Object.keys(manifest.secretFiles).length > 0 ? 'with' : 'without'
  const counts = `organizations: ${organizations}, audit events: ${events}`
  return `made ${made} by Gatehouse ${manifest.version}, ${secret} the server secret; ${counts}.`
}
