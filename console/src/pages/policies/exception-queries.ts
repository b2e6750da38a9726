import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'
import { useList } from '../../api/use-list.ts'
import type { ExceptionCreate } from '../../kit/exception-dialog.tsx'

export type PolicyException = components['schemas']['PolicyException']

const exceptionsKey = (policyId: string) => ['policy', policyId, 'exceptions'] as const
const pageSize = 50

/** Also those that have ended, the newest first. */
export const useExceptions = (policyId: string) =>
  useList<PolicyException>(exceptionsKey(policyId), (after) =>
    dataOf(
      api.GET('/v1/organization/policies/{policy_id}/exceptions', {
        params: {
          path: { policy_id: policyId },
          query: { limit: pageSize, ...(after !== undefined && { after }) },
        },
      }),
    ),
  )

export const useCreateException = (policyId: string, onDone: () => void) =>
  useChange({
    send: (body: ExceptionCreate): Promise<PolicyException> =>
      dataOf(
        api.POST('/v1/organization/policies/{policy_id}/exceptions', {
          params: { path: { policy_id: policyId } },
          body,
        }),
      ),
    refresh: [exceptionsKey(policyId)],
    onDone,
  })

export const useEndException = (policyId: string, onDone: () => void) =>
  useChange({
    send: (id: string): Promise<PolicyException> =>
      dataOf(
        api.DELETE('/v1/organization/policies/{policy_id}/exceptions/{exception_id}', {
          params: { path: { policy_id: policyId, exception_id: id } },
        }),
      ),
    refresh: [exceptionsKey(policyId)],
    onDone,
  })
