import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseTooNew } from '../../adapters/stores/sql/migrate.ts'
import { SecretMissing } from '../../adapters/stores/sql/sqlite/data-folder.ts'
import { messageOf } from '../../base/fault.ts'
import { plural } from '../../base/plural.ts'
import type { Config } from '../../config/config.ts'
import { checkDisk } from './disk.ts'
import type { OrganizationBody } from '../../http/resources/organization.ts'
import type { SecretStatusBody } from '../../http/operator/secret.ts'
import { connect, NoDatabase } from '../client/connect.ts'
import type { Diagnosis } from './diagnosis.ts'

export function checkFolder(config: Config): Diagnosis[] {
  if (config.storage.database_url !== undefined) return []
  const folder = resolve(config.storage.data_dir)
  let nearest = folder
  while (!existsSync(nearest)) nearest = dirname(nearest)
  try {
    if (!statSync(nearest).isDirectory()) throw new Error(`${nearest} is a file`)
    accessSync(nearest, constants.W_OK)
  } catch {
    return [
      {
        part: 'data folder',
        state: 'wrong',
        message: `${nearest} cannot be written`,
        fix: 'Give this user the right to write it, or set GATEHOUSE_DATA_DIR.',
      },
    ]
  }
  const secret = join(folder, 'secret')
  const isOpen = existsSync(secret) && (statSync(secret).mode & 0o077) !== 0
  if (isOpen)
    return [
      {
        part: 'data folder',
        state: 'warning',
        message: 'the secret can be read by others',
        fix: `chmod 600 ${secret}`,
      },
    ]
  return [{ part: 'data folder', state: 'ok', message: folder }]
}

export async function checkStorage(config: Config): Promise<Diagnosis[]> {
  try {
    await using connection = await connect(config)
    const { client } = connection
    const { data: organizations } = await client.list<OrganizationBody>('/operator/organizations', {}, 1)
    const message = `${config.storage.database_url === undefined ? 'embedded' : 'PostgreSQL'}, up to date`
    const others = [await checkDisk(client), ...secretDiagnoses(await client.get<SecretStatusBody>('/operator/secret'))]
    if (organizations.length > 0) return [{ part: 'storage', state: 'ok', message }, ...others]
    return [
      {
        part: 'storage',
        state: 'warning',
        message: `${message}, but there is no organization yet`,
        fix: 'gatehouse setup',
      },
      ...others,
    ]
  } catch (error) {
    if (error instanceof NoDatabase)
      return [
        {
          part: 'storage',
          state: 'warning',
          message: 'there is no database in the data folder yet',
          fix: 'gatehouse serve or gatehouse setup creates it; --data-dir names another folder.',
        },
      ]
    return [{ part: 'storage', state: 'wrong', message: messageOf(error), fix: storageFix(config, error) }]
  }
}

/** Shows only ids of secrets, never the secrets. */
function secretDiagnoses({
  secret_id: id,
  previous_id: previous,
  kept_in: keptIn,
  ...status
}: SecretStatusBody): Diagnosis[] {
  const part = 'server secret'
  const { lost, needs_previous: needs } = status
  const isLost = lost.keys + lost.encrypted_values > 0
  const diagnoses: Diagnosis[] = []
  if (isLost) {
    const message = `${plural(lost.keys, 'key')} and ${plural(lost.encrypted_values, 'encrypted value')} of a server secret that is not configured`
    diagnoses.push({
      part,
      state: 'warning',
      message,
      fix: 'Set GATEHOUSE_SECRET_PREVIOUS to it, or create them again.',
    })
  }
  if (previous === null) return isLost ? diagnoses : [{ part, state: 'ok', message: id }]
  if (!status.is_previous_needed) {
    const fix = keptIn === 'data_folder' ? 'gatehouse secret retire' : 'Remove GATEHOUSE_SECRET_PREVIOUS.'
    return [...diagnoses, { part, state: 'ok', message: `${id}; nothing needs the previous one`, fix }]
  }
  const others = needs.encrypted_values + needs.audit_logs + needs.audit_texts
  const message = `${id}; the previous one is still needed by ${plural(needs.keys, 'key')}${others > 0 ? ' and more' : ''}`
  const fix =
    others > 0 ? 'gatehouse secret rotate' : 'Keys move at their next use. gatehouse secret status shows more.'
  return [...diagnoses, { part, state: 'warning', message, fix }]
}

function storageFix({ storage }: Config, error: unknown): string {
  if (error instanceof Error && error.cause instanceof DatabaseTooNew)
    return 'docs/guide/upgrade.md describes both ways.'
  if (error instanceof SecretMissing) return 'docs/guide/backup.md tells what a restore needs.'
  return storage.database_url === undefined
    ? 'Is the disk full or the folder damaged? Restore it from a backup.'
    : 'Is PostgreSQL running, and is DATABASE_URL right?'
}
