import type { Renewal, Subject } from './admission.ts'
import type { Scope } from './scopes.ts'

/** What was counted in one slot of a window. `slot` is its number since time began. */
export type SlotUse = readonly [slot: number, requests: number, tokens: number]

/** What was counted in the windows of one scope, oldest first. */
export type ScopeUse = {
  readonly scope: Scope
  readonly id: string
  readonly minute: readonly SlotUse[]
  readonly day: readonly SlotUse[]
}

/** The same, with whose it is. */
export type OwnedUse = ScopeUse & { readonly organization: string }

/** A request in flight. */
export type RunningUse = Omit<Renewal, keyof Subject> &
  Pick<Subject, 'project' | 'key'> & { readonly tokens: number; readonly admittedAtMs: number }

/** All that one process has counted for an organization, for another store that has not. */
export type Use = {
  readonly organization: string
  readonly scopes: readonly ScopeUse[]
  readonly running: readonly RunningUse[]
}
