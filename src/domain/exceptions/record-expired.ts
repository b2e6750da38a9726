import type { Actor } from '../mutations/audit-log.ts'
import type { AuditedMutation } from '../mutations/audited-mutation.ts'
import type { ExpiredExceptions, PolicyException } from './exception.ts'
import { exceptionAuditRecord } from './exceptions.ts'

export type RecordExpiredParts = {
  /** A few exceptions of any organization that have expired and are not recorded. */
  readonly listExpired: () => Promise<readonly Pick<PolicyException, 'organizationId' | 'id'>[]>
  readonly mutate: AuditedMutation<{ readonly expired: ExpiredExceptions }>
}

/**
 * Writes the event of each exception that has expired, once over all nodes. Nothing waits for it: an exception ends by the
 * clock of each request.
 */
export function createRecordExpired({ listExpired, mutate }: RecordExpiredParts): () => Promise<void> {
  return async () => {
    for (const { organizationId, id } of await listExpired())
      await mutate(service(organizationId), async ({ expired }) => {
        const exception = await expired.find(organizationId, id)
        const isFirst = exception !== undefined && (await expired.markExpired(exception))
        return isFirst
          ? { value: undefined, record: exceptionAuditRecord('policy_exception.expired', exception) }
          : { value: undefined }
      })
  }
}

const service = (organizationId: string): Actor => ({
  organizationId,
  kind: 'system',
  credentialId: null,
  requestId: null,
})
