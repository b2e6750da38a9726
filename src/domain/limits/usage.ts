import type { Renewal, Subject } from './admission.ts'
import type { LimitScope } from './scopes.ts'

/** The counts in one slot of a window. `slot` is its number since the Unix epoch. */
export type WindowSlotUsage = readonly [slot: number, requests: number, tokens: number]

/** The counts in the windows of one scope, oldest first. */
export type ScopeUsage = {
  readonly scope: LimitScope
  readonly id: string
  readonly minute: readonly WindowSlotUsage[]
  readonly day: readonly WindowSlotUsage[]
}

/** The usage of one scope together with its organization. */
export type NodeUsage = ScopeUsage & { readonly organization: string }

/** A request in flight. */
export type RunningUsage = Omit<Renewal, keyof Subject> &
  Pick<Subject, 'project' | 'key'> & { readonly tokens: number; readonly admittedAtMs: number }

/** Everything that one process has counted for an organization, in a form that another store can add. */
export type LimitUsage = {
  readonly organization: string
  readonly scopes: readonly ScopeUsage[]
  readonly running: readonly RunningUsage[]
}
