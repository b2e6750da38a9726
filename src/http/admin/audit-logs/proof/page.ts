import type { AuditReads } from '../../../../domain/audit/log.ts'
import { toChunks } from '../../../../base/text-chunks.ts'
import { inScript } from './file.ts'

export type ProofPageInput = {
  readonly organizationId: string
  /** Sequences: the page starts after the first and ends with the last. */
  readonly after: number
  readonly last: number
}

/** The lines of some events in a proof. */
export async function proofPage(events: Pick<AuditReads, 'rows'>, { organizationId, after, last }: ProofPageInput) {
  const rows = await events.rows(organizationId, { after, last, limit: last - after })
  return toChunks(rows.map(({ body }) => `${inScript(body)}\n`).join(''))
}
