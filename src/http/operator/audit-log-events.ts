import { toChunks } from '../../base/text-chunks.ts'
import type { AuditReads } from '../../domain/audit/log.ts'
import type { AuditEventsBody } from './audit-log-schema.ts'

export type HashedEventsInput = {
  readonly organizationId: string
  readonly after: number
  readonly to?: number | undefined
}

const eventsPerPage = 500

/** Reads a page of events as they were hashed, and encodes it as the body of a response. */
export async function hashedEventsPage(events: Pick<AuditReads, 'rows'>, input: HashedEventsInput) {
  const { organizationId, after, to } = input
  const rows = await events.rows(organizationId, { after, last: to, limit: eventsPerPage })
  const body: AuditEventsBody = { lines: rows.map((row) => row.body), last: rows.at(-1)?.sequence ?? null }
  return toChunks(JSON.stringify(body))
}
