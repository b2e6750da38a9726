/** `warn`: reported. `require`: a draft that does not meet it cannot be published without an override. In ascending order. */
export const gateLevels = ['off', 'warn', 'require'] as const
export type GateLevel = (typeof gateLevels)[number]

/** What stands between a draft and its publication. Stored and returned by the API as is, so its fields use the API's names. */
export type GateSettings = {
  /** Every case of weight `must` passes on the draft. */
  readonly cases: { readonly level: GateLevel }
  /** What the draft changes for recorded requests. A share is compared by its upper bound; null limits nothing. */
  readonly replay: {
    readonly level: GateLevel
    readonly newly_blocked_bp: number | null
    readonly newly_allowed_bp: number | null
    readonly not_evaluated_bp: number | null
    /** Requests of the last days are replayed. */
    readonly days: number
    /** With fewer replayed requests, no statement is made. */
    readonly min_events: number
    /** Most requests, the newest first. A judge is asked about each of them. */
    readonly max_events: number
  }
  /** The same content has run in monitoring. Needs no stored texts. */
  readonly shadow: {
    readonly level: GateLevel
    readonly hours: number
    readonly min_requests: number
    readonly max_match_bp: number
  }
  /** Approved by others than the last author of the draft. */
  readonly approvals: { readonly level: GateLevel; readonly count: number }
  /** The judge that evaluates the rule was calibrated in the last days. */
  readonly judge: { readonly level: GateLevel; readonly days: number }
}

/** What a policy adds to the settings of its organization. */
export type OwnGateSettings = { readonly [Section in keyof GateSettings]?: Partial<GateSettings[Section]> }

/** Without settings and cases, a publication needs nothing. */
export const defaultGate: GateSettings = {
  cases: { level: 'require' },
  replay: {
    level: 'warn',
    newly_blocked_bp: 50,
    newly_allowed_bp: null,
    not_evaluated_bp: null,
    days: 7,
    min_events: 1_000,
    max_events: 2_000,
  },
  shadow: { level: 'off', hours: 24, min_requests: 1_000, max_match_bp: 50 },
  approvals: { level: 'off', count: 1 },
  judge: { level: 'warn', days: 30 },
}

/** The settings with some replaced. */
export const gateWith = (base: GateSettings, changes: OwnGateSettings): GateSettings => ({
  cases: { ...base.cases, ...changes.cases },
  replay: { ...base.replay, ...changes.replay },
  shadow: { ...base.shadow, ...changes.shadow },
  approvals: { ...base.approvals, ...changes.approvals },
  judge: { ...base.judge, ...changes.judge },
})

/** The stricter of the two in every field: a policy can tighten the gate of its organization, and never loosen it. */
export function tightened(organization: GateSettings, own: OwnGateSettings): GateSettings {
  const other = gateWith(organization, own)
  const { replay, shadow } = organization
  return {
    cases: { level: stricter(organization.cases, other.cases) },
    replay: {
      level: stricter(replay, other.replay),
      newly_blocked_bp: lower(replay.newly_blocked_bp, other.replay.newly_blocked_bp),
      newly_allowed_bp: lower(replay.newly_allowed_bp, other.replay.newly_allowed_bp),
      not_evaluated_bp: lower(replay.not_evaluated_bp, other.replay.not_evaluated_bp),
      days: Math.max(replay.days, other.replay.days),
      min_events: Math.max(replay.min_events, other.replay.min_events),
      max_events: Math.max(replay.max_events, other.replay.max_events),
    },
    shadow: {
      level: stricter(shadow, other.shadow),
      hours: Math.max(shadow.hours, other.shadow.hours),
      min_requests: Math.max(shadow.min_requests, other.shadow.min_requests),
      max_match_bp: Math.min(shadow.max_match_bp, other.shadow.max_match_bp),
    },
    approvals: {
      level: stricter(organization.approvals, other.approvals),
      count: Math.max(organization.approvals.count, other.approvals.count),
    },
    judge: {
      level: stricter(organization.judge, other.judge),
      days: Math.min(organization.judge.days, other.judge.days),
    },
  }
}

export function requiresReplay({ replay }: GateSettings): boolean {
  const { level, newly_blocked_bp: blocked, newly_allowed_bp: allowed, not_evaluated_bp: notEvaluated } = replay
  return level === 'require' && [blocked, allowed, notEvaluated].some((limit) => limit !== null)
}

type Leveled = { readonly level: GateLevel }

const stricter = (a: Leveled, b: Leveled): GateLevel =>
  gateLevels.indexOf(a.level) > gateLevels.indexOf(b.level) ? a.level : b.level

const lower = (a: number | null, b: number | null): number | null => {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
