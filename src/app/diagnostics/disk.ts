import { messageOf } from '../../base/fault.ts'
import type { ApiClient } from '../client/api-client.ts'
import type { StorageBody } from '../../http/operator/storage.ts'
import type { Diagnosis } from './diagnosis.ts'

const leastFreeBytes = 1e9
const leastFreeShare = 0.1

/** Reports have connections of their own, so they may fail while the storage works. */
export const checkDisk = (client: Pick<ApiClient, 'get'>): Promise<Diagnosis> =>
  client.get<StorageBody>('/operator/storage').then(diagnoseDisk, (error: unknown) => ({
    part: 'disk',
    state: 'warning',
    message: `the size and the growth of the database could not be read: ${messageOf(error)}`,
  }))

/** Warns about a disk that has little space, or that the requests of a week fill. */
export function diagnoseDisk(storage: StorageBody): Diagnosis {
  const { disk_free_bytes: free, disk_bytes: all, growth_bytes: growth } = storage
  const isEmbedded = storage.engine === 'embedded'
  const space = `${sizeOf(free)} of ${sizeOf(all)} are free`
  const rate = `the database has ${sizeOf(storage.database_bytes)}, and ${storage.requests_last_week.toLocaleString('en')} requests in the last 7 days make it grow by ${sizeOf(growth)} a week`
  const message = isEmbedded
    ? `${space}; ${rate}`
    : `${space} for what waits for PostgreSQL; its own disk is not checked`
  const isFilling = isEmbedded && growth > free
  if (!isFilling && free >= leastFreeBytes && free >= all * leastFreeShare)
    return { part: 'disk', state: 'ok', message }
  return {
    part: 'disk',
    state: 'warning',
    message: isFilling ? `it will be full within a week: ${message}` : message,
    fix: isEmbedded
      ? 'Shorten audit.retention_days, stop the server and run gatehouse compact, use a larger disk, or move to PostgreSQL: docs/guide/scale-out.md.'
      : 'Use a larger disk for the data folder, or remove other files from it.',
  }
}

function sizeOf(bytes: number): string {
  const [size, unit] = [
    [1e12, 'TB'],
    [1e9, 'GB'],
    [1e6, 'MB'],
  ].find(([least]) => bytes >= Number(least)) ?? [1e3, 'KB']
  return `${(bytes / Number(size)).toFixed(1)} ${unit}`
}
