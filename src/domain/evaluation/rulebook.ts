import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { PolicyExceptions } from '../exceptions/covered.ts'
import { unsaved, type SavedConfiguration } from '../gateway-config/configuration.ts'
import type { Terms } from '../scan/detect/terms.ts'
import type { CompiledRule } from '../policy/compiled-rule.ts'
import type { RuleJudge } from '../policy/judge.ts'
import type { PolicyContent } from '../policy/content.ts'

/** All rules of an organization, compiled once and used for every request. */
export type Rulebook = {
  readonly organizationId: string
  readonly gateway: Gateway
  /** Every policy in force, including `unattached` ones, because a request may name them. */
  readonly policies: readonly ActivePolicy[]
  /** By policy. Undefined if the organization has none. */
  readonly exceptions?: ReadonlyMap<string, PolicyExceptions> | undefined
  /** The judge of rules in plain language; undefined if there is none. */
  readonly judge?: RuleJudge | undefined
}

export type Gateway = SavedConfiguration & {
  /** The terms of both lists in one automaton; undefined if both are empty. */
  readonly terms: Terms | undefined
}

/** The current version of a policy that is monitoring or enforcing. */
export type ActivePolicy = Omit<PolicyContent, 'rule'> & {
  readonly id: string
  /** Shown in the audit log. The draft of a backtest has none. */
  readonly name?: string
  readonly versionId: string
  readonly version: number
  readonly rule: CompiledRule
  /** Set in the plan of a request for which the policy is enforced otherwise than for most. */
  readonly exception?: AppliedException
  /** The share of users that it is enforced for. Undefined: everybody. */
  readonly rolloutPercent?: number
  /** Set in the plan of a request. On the side `observed` its mode is `monitoring`. */
  readonly rollout?: PolicyRollout
}

/** On which side of a rollout a request is. */
export type PolicyRollout = { readonly percent: number; readonly side: 'enforced' | 'observed' }

export type AppliedException =
  /** The policy is not enforced for the request. Its mode is `monitoring`. */
  | { readonly id: string }
  /** It is not enforced for these texts: the ids of exceptions by digest. */
  | { readonly texts: ReadonlyMap<string, string> }

/** Returns the current rules of an organization. A change applies to the next request on this node, and within a second on others. */
export type RulebookOf = (organizationId: string) => MaybePromise<Rulebook>

/** The rules without any configuration: only the always blocked categories. */
export const emptyRulebook: Rulebook = { organizationId: '', gateway: { ...unsaved, terms: undefined }, policies: [] }
