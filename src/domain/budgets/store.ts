import type { NamedPage, Paged } from '../identity/store.ts'
import type { Budget } from './budget.ts'

/** A project or a key. */
export type NamedMember = { readonly id: string; readonly name: string }

export type BudgetPage = NamedPage & { readonly state?: Budget['state'] }

/** The storage of budgets. Every lookup takes the organization first, for tenant isolation. */
export type BudgetStore = {
  /** Keeps others from changing budgets of the organization until the transaction ends, so that names stay unique. */
  lock(organizationId: string): Promise<void>
  insert(budget: Budget): Promise<void>
  /** False if it was changed meanwhile. */
  replace(budget: Budget): Promise<boolean>
  /** With what was reported of it. False if it was removed meanwhile. */
  remove(budget: Pick<Budget, 'organizationId' | 'id'>): Promise<boolean>
  find(organizationId: string, id: string): Promise<Budget | undefined>
  list(organizationId: string, page: BudgetPage): Promise<Paged<Budget>>
  /** Those that are not paused, in the order of their creation. */
  listActive(organizationId: string): Promise<readonly Budget[]>
  names(organizationId: string): Promise<readonly Pick<Budget, 'id' | 'name'>[]>
  /** Those of these projects or keys that the organization has. */
  named(organizationId: string, kind: 'project' | 'key', ids: readonly string[]): Promise<readonly NamedMember[]>
}
