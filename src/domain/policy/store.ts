import type { Page, Paged } from '../identity/store.ts'
import type { Policy, PolicySummary, PolicyVersion } from './policy.ts'

/** Storage of policies. Every lookup takes the organization first; deleted policies are not found. */
export type PolicyStore = {
  insert(policy: Policy): Promise<void>
  find(organizationId: string, id: string): Promise<Policy | undefined>
  list(organizationId: string, page: Page): Promise<Paged<PolicySummary>>
  /** All policies that are monitoring or enforcing, in order of creation. */
  listInForce(organizationId: string): Promise<readonly Policy[]>
  /** Compare-and-set: writes the policy only if it is still at `revision`. Returns false otherwise. */
  replace(policy: Policy, revision: number): Promise<boolean>
  /** Returns false if the policy is no longer at `revision`. */
  remove(policy: Pick<Policy, 'organizationId' | 'id' | 'revision'>, atMs: number): Promise<boolean>
  insertVersion(policy: Pick<Policy, 'organizationId' | 'id'>, version: PolicyVersion): Promise<void>
  findVersion(policy: Pick<Policy, 'organizationId' | 'id'>, version: number): Promise<PolicyVersion | undefined>
  listVersions(policy: Pick<Policy, 'organizationId' | 'id'>, page: Page): Promise<Paged<PolicyVersion>>
  /** Returns the ids that are not projects of the organization. */
  unknownProjects(organizationId: string, projectIds: readonly string[]): Promise<readonly string[]>
}
