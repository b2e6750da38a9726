import type { Spool } from '../../../base/spool.ts'
import type { StoredResponse } from '../../../domain/inference/stored-responses.ts'
import { createDiskSpool } from './disk-spool.ts'

/** The spool of stored responses, in a folder of this machine. */
export const createResponseSpool = (folder: string): Spool<StoredResponse> =>
  createDiskSpool(folder, {
    table: 'unsaved',
    id: 'response_id',
    value: 'response',
    idOf: ({ id }) => id,
    atMsOf: ({ createdAtMs }) => createdAtMs,
  })
