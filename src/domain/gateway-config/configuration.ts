import type { Category } from '../scan/classify/categories.ts'
import type { InjectionPlace } from '../scan/injection/places.ts'

/** What happens to a text that matches a rule of the configuration. */
export const responsePatterns = ['refuse', 'rewrite', 'summary', 'escalate'] as const
export type ResponsePattern = (typeof responsePatterns)[number]

/** What happens to a prompt injection in one place of a request: nothing is searched for, it is recorded, or the request is denied. */
export const injectionModes = ['off', 'monitor', 'block'] as const
export type InjectionMode = (typeof injectionModes)[number]

/** Calendar windows in UTC. */
export const quotaWindows = ['minute', 'hour', 'day', 'week', 'month'] as const
export type QuotaWindow = (typeof quotaWindows)[number]

/** The limits of a user or a project per window; 0 means no limit. */
export type Quota = { readonly requests: number; readonly tokens: number; readonly window: QuotaWindow }

/** A part of the traffic: a percentage of subjects, optionally only requests with one of the target labels. */
export type RolloutShare = {
  readonly enabled: boolean
  readonly sample_percent: number
  readonly targets: readonly string[]
}

/**
 * The gateway configuration of an organization. One document that is stored, hashed, exported and returned unchanged, so
 * its fields have the names of the API. Every field has a value; `withDefaults` adds the defaults.
 */
export type GatewayConfiguration = {
  readonly policy_id: string
  readonly name: string | null
  readonly owner: string | null
  readonly description: string | null
  readonly rules: {
    readonly allowlist: readonly string[]
    readonly denylist: readonly string[]
    readonly redact: boolean
    readonly rewrite_instead_of_refuse: boolean
    /** Null: refuse. */
    readonly response_pattern: ResponsePattern | null
    readonly reason_codes: readonly string[]
    /** May include the two categories that are always blocked. */
    readonly flagged_categories: readonly Category[]
    readonly prompt_injection: Readonly<Record<InjectionPlace, InjectionMode>>
  }
  readonly org_controls: {
    readonly project_keys: boolean
    readonly user_quotas: boolean
    readonly audit_logs: boolean
    readonly data_classification: string | null
    readonly user_quota: Quota
    readonly project_quota: Quota
  }
  readonly rollout: {
    readonly shadow: RolloutShare
    readonly canary: RolloutShare
    readonly rollback_on_spike: boolean
  }
  readonly refusal_replacement: { readonly mode: ResponsePattern | null; readonly escalation_path: string | null }
}

const everyone: RolloutShare = { enabled: false, sample_percent: 100, targets: [] }
const unlimited: Quota = { requests: 0, tokens: 0, window: 'day' }

/** The configuration of an organization that has saved none: only the always-blocked categories are blocked. */
export const defaultConfiguration: GatewayConfiguration = {
  policy_id: 'default',
  name: null,
  owner: null,
  description: null,
  rules: {
    allowlist: [],
    denylist: [],
    redact: false,
    rewrite_instead_of_refuse: false,
    response_pattern: null,
    reason_codes: [],
    flagged_categories: [],
    prompt_injection: { tool_results: 'monitor', documents: 'monitor', user_text: 'monitor' },
  },
  org_controls: {
    project_keys: false,
    user_quotas: false,
    audit_logs: false,
    data_classification: null,
    user_quota: unlimited,
    project_quota: unlimited,
  },
  rollout: { shadow: everyone, canary: everyone, rollback_on_spike: false },
  refusal_replacement: { mode: null, escalation_path: null },
}

/** A stored configuration. */
export type SavedConfiguration = {
  readonly config: GatewayConfiguration
  /** Number of saves of the organization; 0 before the first. */
  readonly version: number
  /** Disabled after a denial spike. The next save enables it again. */
  readonly isRolledBack: boolean
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
}

/** Used before the first save. */
export const unsaved: SavedConfiguration = {
  config: defaultConfiguration,
  version: 0,
  isRolledBack: false,
  createdAtMs: null,
  updatedAtMs: null,
}
