import { join } from 'node:path'
import { createResponseSpool } from '../adapters/stores/sql/response-spool.ts'
import { storedResponses } from '../adapters/stores/sql/stored-responses.ts'
import { withResponseBacklog } from '../domain/inference/response-backlog.ts'
import type { StoredResponses } from '../domain/inference/stored-responses.ts'
import type { Infrastructure } from './infrastructure.ts'

/** With embedded storage a spool would lie on the same disk as the responses themselves. */
export async function openStoredResponses({
  built,
  config,
  database,
  metrics,
  jobs,
}: Infrastructure): Promise<StoredResponses> {
  const kept = storedResponses(database)
  if (database.engine === 'sqlite') return kept
  const spool = built.use(createResponseSpool(join(config.storage.data_dir, 'response-spool')))
  const { stored, waiting, flush, retry } = await withResponseBacklog({ stored: kept, spool })
  built.defer(async () => void (waiting() > 0 && (await flush())))
  built.use(jobs.start('flush-spooled-responses', retry))
  metrics.gauge(
    'gatehouse_responses_waiting',
    'Responses on this node’s disk that the database has not taken yet.',
    waiting,
  )
  return stored
}
