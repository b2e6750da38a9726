import type { Page, Paged } from '../identity/store.ts'

/** What a threshold is measured in. */
export const thresholdUnits = ['usd', 'credits', 'percent', 'count', 'days'] as const
export type ThresholdUnit = (typeof thresholdUnits)[number]

/** The time that a rule looks at. `day` and `month` are those of the calendar in UTC; in a rule about a key they are its limit. */
export const ruleWindows = ['5m', '15m', '1h', '6h', '24h', 'minute', 'day', 'month'] as const
export type RuleWindow = (typeof ruleWindows)[number]

/** The object that a rule is limited to. At most one of them. */
export const ruleFilters = ['project_id', 'api_key_id', 'policy_id', 'budget_id', 'export_id', 'upstream'] as const
export type RuleFilterName = (typeof ruleFilters)[number]
export type RuleFilter = { readonly name: RuleFilterName; readonly id: string }

/** What a kind of rule takes. The first unit and the first window are the defaults. */
type RuleDefinition = {
  readonly units: readonly ThresholdUnit[]
  /** Undefined if a rule must have one of its own. */
  readonly threshold?: number
  readonly windows: readonly RuleWindow[]
  /** Requests below which a share says nothing. */
  readonly minRequests?: number
  /** For how long it must be so before the alert is sent. */
  readonly forMinutes: number
  readonly filters: readonly RuleFilterName[]
}

const shareWindows = ['15m', '5m', '1h', '6h', '24h'] as const
const noThreshold = { units: [], windows: [] } as const

const definitions = {
  spend: { units: ['usd', 'credits'], windows: ['day', 'month'], forMinutes: 1, filters: ['project_id', 'api_key_id'] },
  denials: {
    units: ['percent', 'count'],
    threshold: 20,
    windows: shareWindows,
    minRequests: 20,
    forMinutes: 1,
    filters: ['project_id', 'api_key_id', 'policy_id'],
  },
  errors: {
    units: ['percent', 'count'],
    threshold: 5,
    windows: shareWindows,
    minRequests: 20,
    forMinutes: 1,
    filters: ['project_id', 'api_key_id'],
  },
  key_near_limit: {
    units: ['percent'],
    threshold: 80,
    windows: ['day', 'minute'],
    forMinutes: 1,
    filters: ['project_id', 'api_key_id'],
  },
  budget_near_limit: { units: ['percent'], threshold: 80, windows: [], forMinutes: 1, filters: ['budget_id'] },
  credit_low: { units: ['days'], threshold: 3, windows: [], forMinutes: 1, filters: [] },
  key_expiring: { units: ['days'], threshold: 7, windows: [], forMinutes: 1, filters: [] },
  sink_failing: { ...noThreshold, forMinutes: 5, filters: ['export_id'] },
  dead_letters: { units: ['count'], threshold: 1, windows: [], forMinutes: 1, filters: ['export_id'] },
  upstream_failing: { ...noThreshold, forMinutes: 5, filters: ['upstream'] },
  policy_spike: { ...noThreshold, forMinutes: 1, filters: ['policy_id'] },
  policy_paused: { ...noThreshold, forMinutes: 1, filters: ['policy_id'] },
  rule_not_judged: { ...noThreshold, forMinutes: 1, filters: ['policy_id'] },
} as const satisfies Readonly<Record<string, RuleDefinition>>

export type RuleKind = keyof typeof definitions
export const ruleKinds = Object.keys(definitions) as readonly RuleKind[]
export const definitionOf = (kind: RuleKind): RuleDefinition => definitions[kind]

export const maxForMinutes = 1_440
export const maxRuleChannels = 20

/** When an alert is sent, and by which channels. */
export type AlertRule = {
  readonly id: string
  readonly organizationId: string
  readonly kind: RuleKind
  readonly name: string
  /** Null for kinds without one. */
  readonly threshold: number | null
  readonly unit: ThresholdUnit | null
  readonly window: RuleWindow | null
  /** Only with `percent`. */
  readonly minRequests: number | null
  readonly forMinutes: number
  readonly filter: RuleFilter | null
  readonly channelIds: readonly string[]
  readonly isPaused: boolean
  /** Incremented by every change. */
  readonly version: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** An alert of a rule that has begun and is not over. */
export type FiringAlert = {
  readonly alertId: string
  readonly subject: string
  readonly title: string
  readonly sinceMs: number
}

export type WatchedRule = AlertRule & { readonly firing: readonly FiringAlert[] }

/** The store of rules. Every lookup takes the organization first, for tenant isolation. */
export type AlertRuleStore = {
  insert(rule: AlertRule): Promise<void>
  /** False if it was changed meanwhile. */
  replace(rule: AlertRule): Promise<boolean>
  /** Its alerts that are not over end at this time, and nothing is sent about that. */
  remove(rule: AlertRule, atMs: number): Promise<boolean>
  find(organizationId: string, id: string): Promise<WatchedRule | undefined>
  list(organizationId: string, page: Page): Promise<Paged<WatchedRule>>
  count(organizationId: string): Promise<number>
  /** Whether the organization has the object of a filter. An upstream belongs to the installation, so it is not looked up. */
  hasSubject(organizationId: string, filter: RuleFilter): Promise<boolean>
  /** Names of rules that send by this channel. */
  namesOfChannel(organizationId: string, channelId: string): Promise<readonly string[]>
}
