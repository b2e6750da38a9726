import type { Encryption } from '../../../../base/encryption.ts'
import type { ChainedEvent } from '../../../../domain/audit/chain/chained-event.ts'
import { hourOf, sampleContext, type SampledTexts, type SealedSample } from '../../../../domain/audit/replay-sample.ts'
import type { Database, Statement, Transaction } from '../database.ts'

/** Inserts a row, and deletes the one of the hour with the highest position if there are too many now. */
export function sampleInsertions(
  { organizationId, sequence, id, requestId }: ChainedEvent,
  { hour, position, perHour, sealed }: SealedSample,
): Statement[] {
  if (requestId === null) return []
  return [
    {
      sql: `insert into replay_sample (organization_id, sequence, event_id, request_id, hour, position, sealed)
        values ($1, $2, $3, $4, $5, $6, $7)`,
      params: [organizationId, sequence, id, requestId, hour, position, Buffer.from(sealed, 'base64')],
    },
    {
      sql: `delete from replay_sample where organization_id = $1 and hour = $2 and position > (
          select position from replay_sample where organization_id = $1 and hour = $2
          order by position limit 1 offset $3)`,
      params: [organizationId, hour, perHour - 1],
    },
  ]
}

/** The sampled texts of events, by their sequence. Without those that no accepted server secret decrypts. */
export async function readSamples(
  tx: Pick<Transaction, 'query'>,
  encryption: Pick<Encryption, 'decrypt'>,
  { organizationId, sequences }: { readonly organizationId: string; readonly sequences: readonly number[] },
): Promise<ReadonlyMap<number, SampledTexts>> {
  if (sequences.length === 0) return new Map()
  const placeholders = sequences.map((_, at) => `$${at + 2}`).join(', ')
  const rows = await tx.query<{ sequence: number; event_id: string; sealed: Uint8Array }>(
    `select sequence, event_id, sealed from replay_sample where organization_id = $1 and sequence in (${placeholders})`,
    [organizationId, ...sequences],
  )
  return new Map(
    rows.flatMap(({ sequence, event_id: eventId, sealed }) => {
      const texts = decrypted(encryption, sealed, sampleContext(organizationId, eventId))
      return texts === undefined ? [] : [[sequence, texts] as const]
    }),
  )
}

/** An event may wait on a disk until the secret of its sample is retired. Its request is then one without texts. */
function decrypted(
  encryption: Pick<Encryption, 'decrypt'>,
  sealed: Uint8Array,
  context: string,
): SampledTexts | undefined {
  let text: string
  try {
    text = encryption.decrypt(sealed, context)
  } catch {
    return undefined
  }
  return JSON.parse(text) as SampledTexts
}

/** Deletes the samples of the hours before this time. */
export async function removeSamples(database: Database, beforeMs: number): Promise<void> {
  await database.write([{ sql: 'delete from replay_sample where hour < $1', params: [hourOf(beforeMs)] }])
}
