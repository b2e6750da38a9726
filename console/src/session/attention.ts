import type { LinkOptions } from '@tanstack/react-router'
import type { Tone } from '../kit/badge.tsx'
import { words } from '../words/en.ts'
import type { Overview } from './overview.ts'

export type AttentionItem = Overview['attention'][number]

export const severityTones: Record<AttentionItem['severity'], Tone> = {
  info: 'none',
  warning: 'warning',
  error: 'error',
}

/** How many items need a person soon. Others, such as a policy that somebody paused, are only shown. */
export const urgentCount = (items: readonly AttentionItem[]): number =>
  items.filter(({ severity }) => severity !== 'info').length

const policy = ({ object_id: id }: AttentionItem): LinkOptions => ({
  to: '/policies/$policyId',
  params: { policyId: id ?? '' },
})
const sink = ({ object_id: id }: AttentionItem): LinkOptions => ({
  to: '/sinks/$sinkId',
  params: { sinkId: id ?? '' },
})

/** The page that shows what an item is about. */
const links: Record<AttentionItem['kind'], (item: AttentionItem) => LinkOptions> = {
  policy_stopped_by_spike: policy,
  policy_denials_spiked: policy,
  policy_paused: policy,
  rule_not_judged: policy,
  exception_ending: ({ object_id: id }) => ({ to: '/policies/$policyId/exceptions', params: { policyId: id ?? '' } }),
  judge_drift: ({ object_id: id }) => ({ to: '/judges', search: { judge: id ?? '' } }),
  gateway_rolled_back: () => ({ to: '/gateway' }),
  gateway_denials_spiked: () => ({ to: '/gateway' }),
  sink_failing: sink,
  dead_letters: sink,
  credit_low: () => ({ to: '/limits' }),
  policy_overturned_often: policy,
  appeals_open: () => ({ to: '/reviews' }),
  upstream_resting: () => ({ to: '/models' }),
  key_expiring: ({ object_id: id }) => keyLink(id ?? ''),
  key_near_limit: ({ object_id: id }) => ({ to: '/requests', search: { api_key_id: id ?? '' } }),
}

/** Where a person can act on an item, if that is another place than the object. */
const actionLinks: Partial<typeof links> = {
  key_expiring: ({ object_id: id }) => keyLink(id ?? '', 'rotate'),
  key_near_limit: ({ object_id: id }) => ({ to: '/limits', search: { view: 'limits', api_key_id: id ?? '' } }),
}

/** What a person can do about an item, and where. */
export const attentionAction = (item: AttentionItem): { readonly name: string; readonly link: LinkOptions } => ({
  name: words.overview.actions[item.kind],
  link: (actionLinks[item.kind] ?? links[item.kind])(item),
})

export const attentionLink = (item: AttentionItem): LinkOptions => links[item.kind](item)

/** A dialog of a key of either kind. */
export const keyLink = (id: string, dialog: 'edit' | 'rotate' = 'edit'): LinkOptions => ({
  to: '/projects',
  search: { dialog, id, ...(id.startsWith('adk_') && { tab: 'administrators' as const }) },
})
