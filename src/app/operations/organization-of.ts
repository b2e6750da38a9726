import { Fault } from '../../base/fault.ts'
import type { AuditedMutation } from '../../domain/identity/audited-mutation.ts'
import type { WithAuditRecord } from '../../domain/identity/audit-log.ts'
import type { Paged, DirectoryStore } from '../../domain/identity/store.ts'

/** Left out where there is only one. */
export type InOrganization = { readonly organization?: string }

/** Finds the organization that a command means. */
export type OrganizationOf = (input: InOrganization) => Promise<string>

export function createOrganizationOf(
  reads: Pick<DirectoryStore, 'findOrganization' | 'listOrganizations'>,
): OrganizationOf {
  return async ({ organization }) => {
    if (organization !== undefined) {
      if (await reads.findOrganization(organization)) return organization
      throw new Fault('not_found', 'not_found', `There is no organization ${organization}.`)
    }
    return only(allIn(await reads.listOrganizations({ limit: 2, order: 'asc' })), {
      none: 'There is no organization yet: run gatehouse setup.',
      several: 'There is more than one organization: name it with --org.',
    })
  }
}

/** More than anybody reads on a terminal. */
export const everything = { limit: 1000, order: 'asc' } as const

export const allIn = <T>({ items }: Paged<T>): readonly T[] => items

/** The id of the only one; what to say where there is none, or more than one. */
export function only(all: readonly { readonly id: string }[], words: { none: string; several: string }): string {
  const [first, second] = all
  if (first && !second) return first.id
  throw new Fault('validation', 'invalid_parameter', first ? words.several : words.none)
}

/** Somebody at the machine itself, for the audit log. */
export const operatorOf = (organizationId: string) =>
  ({ organizationId, kind: 'operator', credentialId: null, requestId: null }) as const

export type MutationParts = {
  readonly administer: AuditedMutation<{ readonly registry: DirectoryStore }>
  readonly organizationOf: OrganizationOf
}

type Change<T> = (store: DirectoryStore, organizationId: string) => Promise<WithAuditRecord<T>>

/** Changes something in the organization that a command means, and writes down that it was the operator. */
export function createInOrganization({ administer, organizationOf }: MutationParts) {
  return async <T>(input: InOrganization, work: Change<T>): Promise<T> => {
    const organizationId = await organizationOf(input)
    return administer(operatorOf(organizationId), ({ registry }) => work(registry, organizationId))
  }
}
