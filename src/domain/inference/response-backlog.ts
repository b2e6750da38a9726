import { isFault } from '../../base/fault.ts'
import { createDrainingSpool, type DrainingSpool, type Spool } from '../../base/spool.ts'
import type { StoredResponse, StoredResponses } from './stored-responses.ts'

export type ResponseBacklogParts = {
  readonly stored: StoredResponses
  readonly spool: Spool<StoredResponse>
}

export type SpooledResponses = Omit<DrainingSpool<StoredResponse>, 'add'> & { readonly stored: StoredResponses }

/** Each may hold a whole chat. */
const mostResponses = 1_000

/** Responses that the database does not take wait on this node's disk: an answer that was paid for is not lost with them. */
export async function withResponseBacklog({ stored, spool }: ResponseBacklogParts): Promise<SpooledResponses> {
  const write = (responses: readonly StoredResponse[]) => Promise.all(responses.map((one) => stored.save(one)))
  const { add, ...kept } = await createDrainingSpool({ spool, write })
  return {
    ...kept,
    stored: {
      ...stored,
      async save(response) {
        try {
          await stored.save(response)
        } catch (error) {
          if (!isFault(error) || error.kind !== 'unavailable' || kept.waiting() >= mostResponses) throw error
          await add([response])
        }
      },
    },
  }
}
