import { Badge, type Tone } from '../../kit/badge.tsx'
import { words } from '../../words/en.ts'
import type { PolicySummary } from './queries.ts'

const tones = { enforcing: 'allow', monitoring: 'monitor', draft: 'none', paused: 'warning' } as const satisfies Record<
  PolicySummary['state'],
  Tone
>

export const StateBadge = ({ state }: Pick<PolicySummary, 'state'>) => (
  <Badge tone={tones[state]}>{words.policies.states[state]}</Badge>
)
