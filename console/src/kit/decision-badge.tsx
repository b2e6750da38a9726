import { words } from '../words/en.ts'
import { Badge, type Tone } from './badge.tsx'

export type Decision = keyof typeof tones

const tones = {
  allow: 'allow',
  redact: 'redact',
  rewrite: 'redact',
  summary: 'redact',
  escalate: 'escalate',
  refuse: 'deny',
  not_evaluated: 'none',
} as const satisfies Record<string, Tone>

type DecisionProps = {
  readonly decision: string | null
  readonly isEnforced: boolean
  /** Whether the request failed for a reason other than a decision. */
  readonly isError?: boolean
}

const isDecision = (name: string): name is Decision => Object.hasOwn(tones, name)

/** The tone of a decision. One that was recorded and not enforced is shown as monitoring. */
export function toneOf({ decision, isEnforced, isError = false }: DecisionProps): Tone {
  if (isError) return 'error'
  if (decision === null || !isDecision(decision)) return 'none'
  return isEnforced || decision === 'allow' || decision === 'not_evaluated' ? tones[decision] : 'monitor'
}

export function DecisionBadge(props: DecisionProps) {
  const tone = toneOf(props)
  const name = decisionName(props.decision)
  if (tone === 'error') return <Badge tone={tone}>{words.decisions.error}</Badge>
  if (tone !== 'monitor') return <Badge tone={tone}>{name}</Badge>
  return (
    <Badge tone={tone} title={words.requests.wouldBe(name)}>
      {words.decisions.monitoring}
    </Badge>
  )
}

export const decisionName = (decision: string | null): string =>
  decision !== null && isDecision(decision) ? words.decisions[decision] : words.decisions.not_evaluated
