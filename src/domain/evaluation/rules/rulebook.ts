import type { MaybePromise } from '../../../base/maybe-promise.ts'
import { unsaved, type SavedConfiguration } from '../../gateway-config/configuration.ts'
import type { Terms } from '../../moderation/terms.ts'
import type { CompiledRule } from '../../policy/compiled-rule.ts'
import type { PolicyContent } from '../../policy/content.ts'

/** All that an organization wants checked, compiled once and asked for every request. */
export type Rulebook = {
  readonly gateway: Gateway
  /** Every policy in force, `unattached` ones included: a request may name them. */
  readonly policies: readonly ActivePolicy[]
}

export type Gateway = SavedConfiguration & {
  /** The terms of both lists in one automaton; undefined where both are empty. */
  readonly terms: Terms | undefined
}

/** The current version of a policy that is monitoring or enforcing. */
export type ActivePolicy = Omit<PolicyContent, 'rule'> & {
  readonly id: string
  /** For those who read the audit log; a draft that is only tried out needs none. */
  readonly name?: string
  readonly versionId: string
  readonly version: number
  readonly rule: CompiledRule
}

/** The rules of an organization as of now: a change holds for the next request here, and within a second elsewhere. */
export type RulebookOf = (organizationId: string) => MaybePromise<Rulebook>

/** What holds where nobody has said anything: what is always blocked. */
export const emptyRulebook: Rulebook = { gateway: { ...unsaved, terms: undefined }, policies: [] }
