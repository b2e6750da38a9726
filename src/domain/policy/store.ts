import type { Page, Paged } from '../identity/store.ts'
import type { Policy, PolicySummary, PolicyVersion } from './policy.ts'

/** Policies as they are kept. Every look-up names the organization first; what is deleted is not found. */
export type PolicyStore = {
  insert(policy: Policy): Promise<void>
  find(organizationId: string, id: string): Promise<Policy | undefined>
  list(organizationId: string, page: Page): Promise<Paged<PolicySummary>>
  /** All that are monitoring or enforcing, in the order in which they were made. */
  listInForce(organizationId: string): Promise<readonly Policy[]>
  /** Writes the policy where it is still at `revision`; false where it is not, and then nothing is written. */
  replace(policy: Policy, revision: number): Promise<boolean>
  /** False where the policy is no longer at `revision`. */
  remove(policy: Pick<Policy, 'organizationId' | 'id' | 'revision'>, atMs: number): Promise<boolean>
  insertVersion(policy: Pick<Policy, 'organizationId' | 'id'>, version: PolicyVersion): Promise<void>
  findVersion(policy: Pick<Policy, 'organizationId' | 'id'>, version: number): Promise<PolicyVersion | undefined>
  listVersions(policy: Pick<Policy, 'organizationId' | 'id'>, page: Page): Promise<Paged<PolicyVersion>>
  /** Which of these are no projects of the organization. */
  unknownProjects(organizationId: string, projectIds: readonly string[]): Promise<readonly string[]>
}
