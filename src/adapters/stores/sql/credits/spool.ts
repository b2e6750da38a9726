import type { Charge } from '../../../../domain/credits/charge.ts'
import type { Spool } from '../../../../domain/credits/spool.ts'
import { createDiskQueue } from '../disk-queue.ts'

/** Charges that wait in a folder of this machine. */
export function createSpool(folder: string): Spool {
  const queue = createDiskQueue<Charge>(folder, { table: 'unsettled', id: 'request_id', value: 'charge' })
  return {
    ...queue,
    append: (charge) => queue.append([{ id: charge.requestId, atMs: charge.atMs, value: charge }]),
  }
}
