import type { Administer } from '../../domain/identity/administer.ts'
import type { EventMaker } from '../../domain/audit/event/event-maker.ts'
import type { AuditReads } from '../../domain/audit/log.ts'
import { verifyLog, type LogReport } from '../../domain/audit/verify-log.ts'
import type { AuditTexts } from '../../domain/audit/content/texts.ts'
import { presentKeys } from '../../http/admin/audit-logs/present.ts'
import { operatorOf, type InOrganization, type OrganizationOf } from './organization-of.ts'

export type { LogReport } from '../../domain/audit/verify-log.ts'

/** What the command line can ask of the audit log. */
export type AuditOperations = {
  'audit.verify'(input: InOrganization & { from?: number; to?: number }): Promise<LogReport & { organization: string }>
  /** A page of events behind `after`, each as the JSON that was hashed; `last` is where the next page begins. */
  'audit.page'(
    input: InOrganization & { after: number; to?: number },
  ): Promise<{ lines: string[]; last: number | null }>
  'audit.keys'(input: object): Promise<ReturnType<typeof presentKeys>['data']>
  /** Erases the texts that are kept beside the events of a request; the events stay. */
  'audit.erase'(input: InOrganization & { request: string }): Promise<{ erased: number }>
}

export type AuditOperationParts = {
  readonly reads: { readonly events: AuditReads }
  /** Makes and checks events of the log. */
  readonly events: EventMaker
  readonly administer: Administer<{ readonly texts: AuditTexts }>
  readonly organizationOf: OrganizationOf
}

const pageSize = 500

export function createAuditOperations(parts: AuditOperationParts): AuditOperations {
  const { events, administer, organizationOf } = parts
  const reads = parts.reads.events
  return {
    async 'audit.verify'(input) {
      const organization = await organizationOf(input)
      return { organization, ...(await verifyLog(reads, organization, { events, range: input })) }
    },
    async 'audit.page'(input) {
      const rows = await reads.rows(await organizationOf(input), {
        after: input.after,
        last: input.to,
        limit: pageSize,
      })
      return { lines: rows.map(({ body }) => body), last: rows.at(-1)?.sequence ?? null }
    },
    'audit.keys': async () => presentKeys(await reads.keys()).data,
    async 'audit.erase'(input) {
      const organizationId = await organizationOf(input)
      return administer(operatorOf(organizationId), async ({ texts }) => {
        const erased = await texts.erase(organizationId, input.request)
        if (erased === 0) return { value: { erased } }
        const record = { kind: 'audit_texts.erased', resourceId: input.request, details: { erased } } as const
        return { value: { erased }, record }
      })
    },
  }
}
