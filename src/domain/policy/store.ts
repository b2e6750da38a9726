import type { NamedPage, Page, Paged } from '../identity/store.ts'
import type { PolicyContent } from './content.ts'
import type { Policy, PolicyState, PolicySummary, PolicyVersion } from './policy.ts'

export type PolicyName = Pick<Policy, 'id' | 'name'>

/**
 * A page of policies to which all given conditions apply. Direction, mode, scope and project are those of the current
 * version, and those of the draft while nothing is published.
 */
export type PolicyPage = NamedPage & {
  readonly state?: PolicyState
  readonly hasUnpublishedChanges?: boolean
  readonly content?: Partial<Pick<PolicyContent, 'direction' | 'mode' | 'scope'>>
  /** Policies that apply to this project: those of the organization, and those that list it. */
  readonly projectId?: string
}

/** Storage of policies. Every lookup takes the organization first; deleted policies are not found. */
export type PolicyStore = {
  insert(policy: Policy): Promise<void>
  find(organizationId: string, id: string): Promise<Policy | undefined>
  list(organizationId: string, page: PolicyPage): Promise<Paged<PolicySummary>>
  /** Locks the names of the organization until the transaction ends, and returns those of its policies. */
  lockNames(organizationId: string): Promise<readonly PolicyName[]>
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
  /** Those of the projects that are archived. */
  archivedProjects(organizationId: string, projectIds: readonly string[]): Promise<readonly string[]>
}
