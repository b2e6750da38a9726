import type { ConfigurationAdministration } from '../../domain/gateway-config/mutations.ts'
import { unsaved } from '../../domain/gateway-config/configuration.ts'
import type { GatewayStore } from '../../domain/gateway-config/store.ts'
import type { AuditedMutation } from '../../domain/identity/audited-mutation.ts'
import { presentSaved } from '../../http/policy-gateway/config/present.ts'
import { Given } from '../../http/policy-gateway/config/schema.ts'
import { createValidator } from '../../http/validate.ts'
import { operatorOf, type InOrganization, type OrganizationOf } from './organization-of.ts'

/** A gateway configuration in the words of the API. */
export type ShownConfiguration = ReturnType<typeof presentSaved>

/** What commands can do to gateway configurations. They say and hear what callers of the API do. */
export type GatewayOperations = {
  'gateway.show'(input: InOrganization): Promise<ShownConfiguration>
  /** What would be saved, with all defaults; refused as the save would be. */
  'gateway.check'(input: { readonly config: object }): Promise<ShownConfiguration['config']>
  /** `seen` is the `updated_at` that the change was made against. */
  'gateway.save'(input: Save): Promise<ShownConfiguration>
}

type Save = InOrganization & { readonly config: object; readonly seen: string | null }

type Stores = { readonly gateway: GatewayStore }

export type GatewayOperationParts = {
  readonly configurations: ConfigurationAdministration
  readonly reads: Stores
  readonly administer: AuditedMutation<Stores>
  readonly organizationOf: OrganizationOf
}

export function createGatewayOperations(parts: GatewayOperationParts): GatewayOperations {
  const { configurations, reads, administer, organizationOf } = parts
  const readGiven = createValidator(Given)
  return {
    'gateway.show': async (input) => presentSaved((await reads.gateway.find(await organizationOf(input))) ?? unsaved),
    'gateway.check': async ({ config }) => configurations.check(readGiven(config)),
    async 'gateway.save'({ config: given, seen, ...input }) {
      const organizationId = await organizationOf(input)
      const config = configurations.check(readGiven(given))
      const seenAtMs = seen === null ? null : Date.parse(seen)
      const work = ({ gateway }: Stores) => configurations.save(gateway, { organizationId, config, seenAtMs })
      return presentSaved(await administer(operatorOf(organizationId), work))
    },
  }
}
