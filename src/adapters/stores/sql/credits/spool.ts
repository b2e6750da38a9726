import type { Spool } from '../../../../base/spool.ts'
import type { Charge } from '../../../../domain/credits/charge.ts'
import { createDiskSpool } from '../disk-spool.ts'

/** Charges that wait in a local folder. */
export const createChargeSpool = (folder: string): Spool<Charge> =>
  createDiskSpool(folder, {
    table: 'unsettled',
    id: 'request_id',
    value: 'charge',
    idOf: ({ requestId }) => requestId,
    atMsOf: ({ atMs }) => atMs,
  })
