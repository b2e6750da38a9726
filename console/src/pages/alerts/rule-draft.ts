import type { AlertRule, RuleBody } from './queries.ts'

export type RuleKind = RuleBody['kind']
type Unit = NonNullable<RuleBody['unit']>
type Window = NonNullable<RuleBody['window']>
export type FilterName = 'project_id' | 'api_key_id' | 'policy_id' | 'budget_id'

type KindForm = {
  readonly threshold?: string
  /** The first is the default. */
  readonly units?: readonly Unit[]
  readonly windows?: readonly Window[]
  readonly forMinutes: string
  readonly filters: readonly FilterName[]
}

const shares = { units: ['percent', 'count'], windows: ['15m', '5m', '1h', '6h', '24h'], forMinutes: '1' } as const

/** What the form of each kind has. A kind of the API that is missing does not compile. */
export const kindForms: Readonly<Record<RuleKind, KindForm>> = {
  spend: {
    threshold: '100',
    units: ['usd', 'credits'],
    windows: ['day', 'month'],
    forMinutes: '1',
    filters: ['project_id', 'api_key_id'],
  },
  denials: { ...shares, threshold: '20', filters: ['project_id', 'api_key_id', 'policy_id'] },
  errors: { ...shares, threshold: '5', filters: ['project_id', 'api_key_id'] },
  key_near_limit: {
    threshold: '80',
    units: ['percent'],
    windows: ['day', 'minute'],
    forMinutes: '1',
    filters: ['project_id', 'api_key_id'],
  },
  budget_near_limit: { threshold: '80', units: ['percent'], forMinutes: '1', filters: ['budget_id'] },
  credit_low: { threshold: '3', units: ['days'], forMinutes: '1', filters: [] },
  key_expiring: { threshold: '7', units: ['days'], forMinutes: '1', filters: [] },
  sink_failing: { forMinutes: '5', filters: [] },
  dead_letters: { threshold: '1', units: ['count'], forMinutes: '1', filters: [] },
  upstream_failing: { forMinutes: '5', filters: [] },
  policy_spike: { forMinutes: '1', filters: ['policy_id'] },
  policy_paused: { forMinutes: '1', filters: ['policy_id'] },
  rule_not_judged: { forMinutes: '1', filters: ['policy_id'] },
}

export const ruleKinds = Object.keys(kindForms) as readonly RuleKind[]

/** What is being typed. */
export type RuleDraft = {
  readonly kind: RuleKind
  readonly name: string
  readonly threshold: string
  readonly unit: Unit | undefined
  readonly window: Window | undefined
  readonly forMinutes: string
  /** `project_id:proj_…`; empty for all. */
  readonly filter: string
  readonly channelIds: readonly string[]
}

/** The form of a new rule of this kind. What people chose already stays. */
export function draftOfKind(kind: RuleKind, name: string, channelIds: readonly string[]): RuleDraft {
  const { threshold = '', units, windows, forMinutes } = kindForms[kind]
  return { kind, name, threshold, unit: units?.[0], window: windows?.[0], forMinutes, filter: '', channelIds }
}

export const draftOfRule = (rule: AlertRule): RuleDraft => ({
  kind: rule.kind,
  name: rule.name,
  threshold: rule.threshold === null ? '' : String(rule.threshold),
  unit: rule.unit ?? undefined,
  window: rule.window ?? undefined,
  forMinutes: String(rule.for_minutes),
  filter: Object.entries(rule.filter ?? {}).map(([name, id]) => `${name}:${id}`)[0] ?? '',
  channelIds: rule.channel_ids,
})

/** The body that the form sends. */
export function bodyOfDraft(draft: RuleDraft): RuleBody {
  const { kind, name, threshold, unit, window, forMinutes, filter, channelIds } = draft
  const at = filter.indexOf(':')
  return {
    kind,
    name: name.trim(),
    ...(kindForms[kind].units && { threshold: Number(threshold.replace(',', '.')) }),
    ...(unit !== undefined && { unit }),
    ...(window !== undefined && { window }),
    for_minutes: Number(forMinutes),
    filter: at === -1 ? null : { [filter.slice(0, at)]: filter.slice(at + 1) },
    channel_ids: [...channelIds],
  }
}

/** Whether the form can be sent. */
export function isComplete({ kind, name, threshold, forMinutes }: RuleDraft): boolean {
  const amount = Number(threshold.replace(',', '.'))
  const hasThreshold = kindForms[kind].units === undefined || (threshold.trim() !== '' && amount > 0)
  return name.trim() !== '' && hasThreshold && Number.isInteger(Number(forMinutes)) && Number(forMinutes) > 0
}
