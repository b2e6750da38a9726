import type { GatewayConfig } from './queries.ts'

export type Change = { readonly field: string; readonly before: string; readonly after: string }

/** The fields that differ, by their names in the API, such as `rules.denylist`. */
export function changesOf(before: unknown, after: unknown, field = ''): readonly Change[] {
  if (isRecord(before) && isRecord(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) => changesOf(before[name], after[name], field === '' ? name : `${field}.${name}`))
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  return [{ field, ...shownChange(before, after) }]
}

/** Of lists, only the items that were added or removed. */
function shownChange(before: unknown, after: unknown): Omit<Change, 'field'> {
  if (!Array.isArray(before) || !Array.isArray(after)) return { before: shown(before), after: shown(after) }
  const removed = before.filter((item) => !after.includes(item))
  const added = after.filter((item) => !before.includes(item))
  const isReordered = removed.length === 0 && added.length === 0
  return isReordered ? { before: list(before), after: list(after) } : { before: list(removed), after: list(added) }
}

const shown = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value))
const list = (items: readonly unknown[]): string => items.map(String).join('\n')

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const rolloutStages = ['all', 'share', 'shadow'] as const
export type RolloutStage = (typeof rolloutStages)[number]

/** The common stages of a rollout; undefined for a combination that only JSON can express. */
export function stageOf({ shadow, canary }: GatewayConfig['rollout']): RolloutStage | undefined {
  if (!shadow.enabled) return canary.enabled ? 'share' : 'all'
  return canary.enabled || shadow.sample_percent < 100 || shadow.targets.length > 0 ? undefined : 'shadow'
}

export function withStage(rollout: GatewayConfig['rollout'], stage: RolloutStage): GatewayConfig['rollout'] {
  const everyone = { sample_percent: 100, targets: [] }
  return {
    ...rollout,
    shadow: { ...rollout.shadow, ...(stage === 'shadow' && everyone), enabled: stage === 'shadow' },
    canary: { ...rollout.canary, enabled: stage === 'share' },
  }
}

/** The lines of a text area. A line that is being typed at the end stays, also while it is empty. */
export const linesOf = (text: string): string[] =>
  text.split('\n').filter((line, at, all) => line !== '' || (at === all.length - 1 && at > 0))

/** The configuration as it is sent: without the empty line at the end of a list. */
export const cleaned = (config: GatewayConfig): GatewayConfig => ({
  ...config,
  rules: {
    ...config.rules,
    allowlist: config.rules.allowlist.filter((term) => term !== ''),
    denylist: config.rules.denylist.filter((term) => term !== ''),
  },
})
