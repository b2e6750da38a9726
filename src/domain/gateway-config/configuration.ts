import type { Category } from '../moderation/categories.ts'

/** What becomes of a text that a rule of the configuration hits. */
export const responsePatterns = ['refuse', 'rewrite', 'summary', 'escalate'] as const
export type ResponsePattern = (typeof responsePatterns)[number]

/** Calendar windows in UTC. */
export const quotaWindows = ['minute', 'hour', 'day', 'week', 'month'] as const
export type QuotaWindow = (typeof quotaWindows)[number]

/** How much a user or a project may use in each window; 0 means no limit. */
export type Quota = { readonly requests: number; readonly tokens: number; readonly window: QuotaWindow }

/** A part of the traffic: the share of subjects, and the labels it is limited to. */
export type RolloutShare = {
  readonly enabled: boolean
  readonly sample_percent: number
  readonly targets: readonly string[]
}

/**
 * What an organization asks of the gateway. One document, kept, hashed, exported and shown as it is, so its fields are
 * spelled as callers spell them. Every field has a value; what a caller leaves out has its default.
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
    /** The two that are always blocked may be named, and are blocked either way. */
    readonly flagged_categories: readonly Category[]
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

/** What holds where an organization has saved nothing: only what is always blocked. */
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

/** A configuration as it was saved. */
export type SavedConfiguration = {
  readonly config: GatewayConfiguration
  /** Counts the saves of an organization from 1; 0 before the first. */
  readonly version: number
  /** Taken out of force by a spike of refusals; the next save ends it. */
  readonly isRolledBack: boolean
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
}

/** What holds before anything was saved. */
export const unsaved: SavedConfiguration = {
  config: defaultConfiguration,
  version: 0,
  isRolledBack: false,
  createdAtMs: null,
  updatedAtMs: null,
}
