import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { createAuditSpool } from '../../adapters/stores/sql/audit/spool.ts'
import { createChargeSpool } from '../../adapters/stores/sql/credits/spool.ts'
import { createResponseSpool } from '../../adapters/stores/sql/response-spool.ts'
import type { Config } from '../../config/config.ts'
import { workerCount } from '../../config/worker-count.ts'
import type { Diagnosis } from './diagnosis.ts'
import { knownSpoolFolders, usedSpoolFolders } from '../storage/leftover-spools.ts'

/** The data folder of a node holds what could not be written to PostgreSQL yet. It must not be deleted before that is written. */
export async function checkSpools(config: Pick<Config, 'server' | 'storage'>): Promise<Diagnosis[]> {
  const { database_url: url, data_dir: dataDir } = config.storage
  if (url === undefined) return []
  const used = usedSpoolFolders(dataDir, workersOf(config))
  const checks = knownSpoolFolders(dataDir).map((folder) => checkFolder(folder, used.includes(folder)))
  const waiting = (await Promise.all(checks)).flat()
  return waiting.length > 0 ? waiting : [{ part: 'spool', state: 'ok', message: 'nothing is waiting' }]
}

async function checkFolder(folder: string, isUsed: boolean): Promise<Diagnosis[]> {
  await using charges = createChargeSpool(join(folder, 'spool'))
  await using events = createAuditSpool(join(folder, 'audit-spool'))
  await using responses = createResponseSpool(join(folder, 'response-spool'))
  const counts = { charges: await charges.count(), events: await events.count(), responses: await responses.count() }
  if (Object.values(counts).every((count) => count === 0)) return []
  const message = `charges that wait for PostgreSQL: ${counts.charges}, audit events: ${counts.events}, responses: ${counts.responses}`
  const writer = isUsed
    ? 'A running node writes them once PostgreSQL answers.'
    : 'The next start of the server takes them over.'
  return [{ part: 'spool', state: 'warning', message, fix: `${writer} Keep ${resolve(folder)} until then.` }]
}

/** Another check reports a wrong number of workers. */
function workersOf(config: Pick<Config, 'server' | 'storage'>): number {
  try {
    return workerCount(config, availableParallelism())
  } catch {
    return 1
  }
}
