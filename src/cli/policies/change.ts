import { apiPath, type ApiClient } from '../../app/client/api-client.ts'
import type { PolicyBody } from '../../http/admin/policies/schema.ts'
import type { PolicyCall } from './call.ts'
import { wholeNumber } from './fields.ts'

export const policyPath = (id: string): string => apiPath`/v1/organization/policies/${id}`

export const readPolicy = (client: ApiClient, id: string): Promise<PolicyBody> => client.get<PolicyBody>(policyPath(id))

/** The revision of `--revision`, or the current one. */
export async function revisionOf({ connection: { client }, id, values: { revision } }: PolicyCall): Promise<number> {
  return revision === undefined ? (await readPolicy(client, id)).revision : wholeNumber(revision, '--revision')
}

type Change = {
  readonly method: 'POST' | 'PATCH'
  readonly id: string
  readonly action?: string
  readonly body: object
}

/** `isEvaluable` is false if nothing can evaluate the rule that was published. */
export type ChangedPolicy = { readonly policy: PolicyBody; readonly isEvaluable: boolean }

export async function changePolicy(client: ApiClient, { method, id, action, body }: Change): Promise<ChangedPolicy> {
  const path = action === undefined ? policyPath(id) : `${policyPath(id)}/${action}`
  const { body: policy, headers } = await client.request<PolicyBody>(method, path, { body })
  return { policy, isEvaluable: headers['x-gatehouse-warning'] !== 'rule_not_evaluable' }
}
