import type { Static } from 'typebox'
import type { AuditedMutation } from '../../domain/identity/audited-mutation.ts'
import type { AuditLogStore, WithAuditRecord } from '../../domain/identity/audit-log.ts'
import { findPolicy, findVersion, type PolicyAdministration, type PolicyAt } from '../../domain/policy/mutations.ts'
import type { Policy } from '../../domain/policy/policy.ts'
import type { PolicyStore } from '../../domain/policy/store.ts'
import { newPolicyOf, patchOf } from '../../http/admin/policies/decode.ts'
import { presentPolicy, presentSummary, presentPolicyVersion } from '../../http/admin/policies/present.ts'
import {
  AtRevision,
  CreatePolicy,
  UpdatePolicy,
  type Policy as PolicyObject,
} from '../../http/admin/policies/schema.ts'
import { createValidator, type Validate } from '../../http/validate.ts'
import { operatorOf, type InOrganization, type OrganizationOf } from './organization-of.ts'

/** For the commands, which may not import the domain. */
export { policyFields } from '../../domain/policy/content.ts'
export type { PolicyContentBody, PolicyField } from '../../domain/policy/content.ts'

/** A policy in the words of the API. */
export type ShownPolicy = Static<typeof PolicyObject>
export type ShownSummary = Omit<ShownPolicy, 'draft' | 'published'>
export type ShownVersion = NonNullable<ShownPolicy['published']>

export type Named = InOrganization & { readonly id: string }
export type AtOf = Named & { readonly revision: number }

/** What commands can do to policies. They say and hear what callers of the API do. */
export type PolicyOperations = {
  'policies.list'(input: InOrganization): Promise<readonly ShownSummary[]>
  'policies.show'(input: Named): Promise<ShownPolicy>
  'policies.version'(input: Named & { readonly version: number }): Promise<ShownVersion>
  /** What would be created, with all defaults; refused as the creation would be. */
  'policies.check'(input: InOrganization & { readonly policy: object }): Promise<ShownPolicy>
  'policies.create'(input: InOrganization & { readonly policy: object }): Promise<ShownPolicy>
  'policies.update'(input: AtOf & { readonly patch: object }): Promise<ShownPolicy>
  'policies.publish'(input: AtOf): Promise<Published>
  'policies.pause'(input: AtOf): Promise<ShownPolicy>
  'policies.resume'(input: AtOf): Promise<ShownPolicy>
  'policies.rollback'(input: AtOf & { readonly version: number }): Promise<Published>
  'policies.delete'(input: AtOf): Promise<ShownPolicy>
}

/** `isEvaluable` is false where nobody can judge the rule that was published. */
export type Published = { readonly policy: ShownPolicy; readonly isEvaluable: boolean }

type Stores = { readonly policies: PolicyStore; readonly audit: AuditLogStore }

export type PolicyOperationParts = {
  readonly policies: PolicyAdministration
  readonly reads: Stores
  readonly administer: AuditedMutation<Stores>
  readonly organizationOf: OrganizationOf
}

type Step = (store: PolicyStore, at: PolicyAt) => Promise<WithAuditRecord<Policy>>

export function createPolicyOperations(parts: PolicyOperationParts): PolicyOperations {
  const { policies, reads, administer, organizationOf } = parts
  const readNew: Validate<Static<typeof CreatePolicy>> = createValidator(CreatePolicy)
  const readPatch: Validate<Static<typeof UpdatePolicy>> = createValidator(UpdatePolicy)
  const readAt: Validate<Static<typeof AtRevision>> = createValidator(AtRevision)

  const find = async (input: Named): Promise<Policy> =>
    findPolicy(reads.policies, await organizationOf(input), input.id)

  const change = async (input: AtOf, step: Step): Promise<Policy> => {
    const organizationId = await organizationOf(input)
    const at = { organizationId, id: input.id, ...readAt({ revision: input.revision }) }
    return administer(operatorOf(organizationId), (stores) => step(stores.policies, at))
  }

  const published = (policy: Policy): Published => ({
    policy: presentPolicy(policy),
    isEvaluable: policy.published !== null && policies.isEvaluable(policy.published.rule),
  })

  return {
    async 'policies.list'(input) {
      const organizationId = await organizationOf(input)
      const found: ShownSummary[] = []
      for (let after: string | undefined; ; after = found.at(-1)?.id) {
        const page = { limit: 500, order: 'asc', ...(after !== undefined && { after }) } as const
        const { items, hasMore } = await reads.policies.list(organizationId, page)
        found.push(...items.map(presentSummary))
        if (!hasMore) return found
      }
    },
    'policies.show': async (input) => presentPolicy(await find(input)),
    async 'policies.version'(input) {
      const policy = await find(input)
      return presentPolicyVersion(await findVersion(reads.policies, policy, input.version), policy)
    },
    async 'policies.check'(input) {
      const organizationId = await organizationOf(input)
      return presentPolicy(await policies.check(reads.policies, organizationId, newPolicyOf(readNew(input.policy))))
    },
    async 'policies.create'(input) {
      const organizationId = await organizationOf(input)
      const policy = newPolicyOf(readNew(input.policy))
      const work = (stores: Stores) => policies.create(stores.policies, organizationId, policy)
      return presentPolicy(await administer(operatorOf(organizationId), work))
    },
    async 'policies.update'({ patch, ...input }) {
      const { revision: _revision, ...said } = readPatch({ ...patch, revision: input.revision })
      return presentPolicy(await change(input, (store, at) => policies.update(store, at, patchOf(said))))
    },
    'policies.publish': async (input) => published(await change(input, policies.publish)),
    'policies.pause': async (input) => presentPolicy(await change(input, policies.pause)),
    'policies.resume': async (input) => presentPolicy(await change(input, policies.resume)),
    'policies.rollback': async ({ version, ...input }) =>
      published(await change(input, (store, at) => policies.rollBack(store, at, version))),
    'policies.delete': async (input) => presentPolicy(await change(input, policies.remove)),
  }
}
