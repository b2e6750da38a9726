import type { Renewal, Subject } from './admission.ts'
import type { LimitScope } from './scopes.ts'

/** What was counted in one slot of a window. `slot` is its number since time began. */
export type WindowSlotUsage = readonly [slot: number, requests: number, tokens: number]

/** What was counted in the windows of one scope, oldest first. */
export type ScopeUsage = {
  readonly scope: LimitScope
  readonly id: string
  readonly minute: readonly WindowSlotUsage[]
  readonly day: readonly WindowSlotUsage[]
}

/** The same, with whose it is. */
export type NodeUsage = ScopeUsage & { readonly organization: string }

/** A request in flight. */
export type RunningUsage = Omit<Renewal, keyof Subject> &
  Pick<Subject, 'project' | 'key'> & { readonly tokens: number; readonly admittedAtMs: number }

/** All that one process has counted for an organization, for another store that has not. */
export type LimitUsage = {
  readonly organization: string
  readonly scopes: readonly ScopeUsage[]
  readonly running: readonly RunningUsage[]
}
