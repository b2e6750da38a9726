import {
  defaultConfiguration as defaults,
  quotaWindows,
  type GatewayConfiguration,
  type Quota,
  type QuotaWindow,
  type RolloutShare,
} from './configuration.ts'

const windowAliases = { daily: 'day', weekly: 'week', monthly: 'month' } as const satisfies Record<string, QuotaWindow>
type WindowAlias = keyof typeof windowAliases

/** The names of a window in a request, with aliases. */
export const windowNames = [...quotaWindows, 'daily', 'weekly', 'monthly'] as const satisfies (
  | QuotaWindow
  | WindowAlias
)[]
type WindowName = (typeof windowNames)[number]

type Rules = GatewayConfiguration['rules']
type Controls = GatewayConfiguration['org_controls']
type GivenQuota = Partial<Omit<Quota, 'window'>> & { readonly window?: WindowName }

/** A configuration as a caller sends it. Fields that are left out get their defaults. */
export type GivenConfiguration = Partial<Pick<GatewayConfiguration, 'policy_id' | 'name' | 'owner' | 'description'>> & {
  readonly rules?: Partial<Omit<Rules, 'prompt_injection'>> & {
    readonly prompt_injection?: Partial<Rules['prompt_injection']>
  }
  readonly org_controls?: Partial<Omit<Controls, 'user_quota' | 'project_quota'>> & {
    readonly user_quota?: GivenQuota
    readonly project_quota?: GivenQuota
  }
  readonly rollout?: {
    readonly shadow?: Partial<RolloutShare>
    readonly canary?: Partial<RolloutShare>
    readonly rollback_on_spike?: boolean
  }
  readonly refusal_replacement?: Partial<GatewayConfiguration['refusal_replacement']>
}

/** The normalised configuration: every field in a fixed order, lists without duplicates, no alias. */
export function withDefaults(given: GivenConfiguration): GatewayConfiguration {
  const { rules, org_controls: controls, rollout, refusal_replacement: replacement, ...own } = given
  const { shadow, canary, rollback_on_spike: rollbackOnSpike = false } = rollout ?? {}
  return {
    ...defaults,
    ...own,
    rules: completeRules({
      ...defaults.rules,
      ...rules,
      prompt_injection: { ...defaults.rules.prompt_injection, ...rules?.prompt_injection },
    }),
    org_controls: {
      ...defaults.org_controls,
      ...controls,
      user_quota: completeQuota(controls?.user_quota),
      project_quota: completeQuota(controls?.project_quota),
    },
    rollout: {
      shadow: completeShare({ ...defaults.rollout.shadow, ...shadow }),
      canary: completeShare({ ...defaults.rollout.canary, ...canary }),
      rollback_on_spike: rollbackOnSpike,
    },
    refusal_replacement: { ...defaults.refusal_replacement, ...replacement },
  }
}

const completeRules = (rules: Rules): Rules => ({
  ...rules,
  allowlist: distinct(rules.allowlist),
  denylist: distinct(rules.denylist),
  reason_codes: distinct(rules.reason_codes),
  flagged_categories: distinct(rules.flagged_categories),
})

const completeShare = (share: RolloutShare): RolloutShare => ({ ...share, targets: distinct(share.targets) })

function completeQuota(given: GivenQuota = {}): Quota {
  const { window, ...amounts } = given
  const unlimited = defaults.org_controls.user_quota
  return { ...unlimited, ...amounts, window: window === undefined ? unlimited.window : windowOf(window) }
}

const windowOf = (name: WindowName): QuotaWindow => (isAlias(name) ? windowAliases[name] : name)
const isAlias = (name: string): name is WindowAlias => Object.hasOwn(windowAliases, name)

const distinct = <T>(items: readonly T[]): readonly T[] => [...new Set(items)]
