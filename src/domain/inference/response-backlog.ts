import { isFault } from '../../base/fault.ts'
import { createDrainingSpool, type DrainingSpool, type SpoolDrainParts } from '../../base/spool.ts'
import type { StoredResponse, StoredResponses } from './stored-responses.ts'

export type ResponseBacklogParts = Omit<SpoolDrainParts<StoredResponse>, 'write'> & {
  readonly stored: StoredResponses
}

export type SpooledResponses = Omit<DrainingSpool<StoredResponse>, 'add'> & { readonly stored: StoredResponses }

/** Bounds the disk space: each response may hold a whole conversation. */
const maxResponses = 1_000

/** While the database is unavailable, responses to store are spooled on this node's disk, so a paid response is not lost. */
export async function withResponseBacklog({ stored, ...parts }: ResponseBacklogParts): Promise<SpooledResponses> {
  const write = (responses: readonly StoredResponse[]) => Promise.all(responses.map((one) => stored.save(one)))
  const { add, ...kept } = await createDrainingSpool({ ...parts, write })
  return {
    ...kept,
    stored: {
      ...stored,
      async save(response) {
        try {
          await stored.save(response)
        } catch (error) {
          if (!isFault(error) || error.kind !== 'unavailable' || kept.waiting() >= maxResponses) throw error
          await add([response])
        }
      },
    },
  }
}
