import { apiPath, type ApiClient } from '../../app/client/api-client.ts'
import type { GateBody } from '../../http/admin/policies/gate-schema.ts'
import { leafDifferences } from '../leaf-diff.ts'
import type { FieldDifference } from '../policies/diff.ts'
import { actionOf, type Planning, type Step } from './step.ts'

const organizationGate = '/v1/organization/publish_gate'

export type GateSettingsFile = GateBody['settings']

/** The publish gate of the organization. Files without it leave it as it is. */
export function planPublishGate({ resources, state }: Planning): Step[] {
  if (!resources.publish_gate) return []
  const settings = resources.publish_gate.value
  const { publishGate } = state
  const differences = leafDifferences(publishGate.settings, settings)
  const run: Step['run'] = async (client) => {
    await client.request('PUT', organizationGate, { body: { revision: publishGate.revision, ...settings } })
    return { id: '' }
  }
  return [{ kind: 'publish gate', name: '', action: actionOf(publishGate, differences), differences, run }]
}

/** What changes in the gate of a policy, and how. */
export type PlannedGate = {
  readonly differences: readonly FieldDifference[]
  readonly apply: (client: ApiClient, policyId: string) => Promise<void>
}

/** The gate of a policy. An entry without settings leaves it as it is. */
export async function planPolicyGate(
  client: ApiClient,
  settings: GateSettingsFile | undefined,
  policyId: string | undefined,
): Promise<PlannedGate> {
  if (settings === undefined) return { differences: [], apply: async () => {} }
  const current = policyId === undefined ? undefined : await readPolicyGate(client, policyId)
  const differences = leafDifferences({ publish_gate: current?.settings ?? {} }, { publish_gate: settings })
  return {
    differences,
    async apply(applying, id) {
      if (differences.length === 0) return
      await applying.request('PUT', pathOf(id), { body: { revision: current?.revision ?? 0, ...settings } })
    },
  }
}

const pathOf = (policyId: string): string => apiPath`/v1/organization/policies/${policyId}/publish_gate`

export const readPolicyGate = (client: ApiClient, policyId: string): Promise<GateBody> =>
  client.get<GateBody>(pathOf(policyId))
