import { Link } from '@tanstack/react-router'
import type { components } from '../api/schema.d.ts'
import { words } from '../words/en.ts'
import { Badge } from './badge.tsx'
import { DecisionBadge, decisionName, toneOf } from './decision-badge.tsx'
import { count } from './format.ts'
import { RuleAnchor } from './request-summary-line.tsx'
import type { RuleLink } from './request-summary.ts'
import { Score } from './score.tsx'
import styles from './outcomes.module.css'

type Outcome = components['schemas']['RequestDetail']['outcomes'][number]

type OutcomesProps = {
  readonly outcomes: readonly Outcome[]
  readonly isChecked: boolean
  readonly mayOpen: (rule: RuleLink) => boolean
}

const text = words.request

/** Every check that ran, with its own decision and its score against the threshold. */
export function Outcomes({ outcomes, isChecked, mayOpen }: OutcomesProps) {
  if (outcomes.length === 0) return <p className={styles.none}>{isChecked ? text.noOutcomes : text.notChecked}</p>
  return (
    <ul className={styles.outcomes}>
      {outcomes.map((outcome, at) => (
        <li key={at} data-deciding={outcome.is_deciding}>
          <span className={styles.name} title={outcome.policy_id ?? undefined}>
            <CheckName outcome={outcome} mayOpen={mayOpen} /> <small>{noteOf(outcome)}</small>{' '}
            <LetThrough outcome={outcome} mayOpen={mayOpen} />
          </span>
          <OutcomeBadge outcome={outcome} />
          <OutcomeScore outcome={outcome} />
        </li>
      ))}
    </ul>
  )
}

/** The exception that let a request through, with the way to it. */
function LetThrough({ outcome, mayOpen }: { readonly outcome: Outcome } & Pick<OutcomesProps, 'mayOpen'>) {
  if (outcome.exception_id === null) return null
  const rule = linkOf(outcome)
  const isLinked = rule?.kind === 'policy' && mayOpen(rule)
  return (
    <small title={outcome.exception_id}>
      {isLinked ? (
        <Link to="/policies/$policyId/exceptions" params={{ policyId: rule.policyId }}>
          {words.exceptions.letThrough}
        </Link>
      ) : (
        words.exceptions.letThrough
      )}
    </small>
  )
}

function CheckName({ outcome, mayOpen }: { readonly outcome: Outcome } & Pick<OutcomesProps, 'mayOpen'>) {
  const { check, policy_id: policyId, name } = outcome
  const label = name ?? (check === 'policy' && policyId !== null ? text.deletedPolicy : text.checks[check])
  const rule = linkOf(outcome)
  return rule !== undefined && mayOpen(rule) ? <RuleAnchor rule={rule} label={label} /> : label
}

/** What kind of rule it is if its name does not tell, its version, and whether it decided. */
const noteOf = ({ check, name, version, is_deciding: isDeciding }: Outcome): string =>
  [
    ...(check === 'gateway' && name !== null ? [text.summary.gateway] : []),
    ...(version === null ? [] : [`v${version}`]),
    ...(isDeciding ? [text.decided] : []),
  ].join(' · ')

function linkOf({ check, policy_id: policyId, name }: Outcome): RuleLink | undefined {
  if (check === 'gateway') return { kind: 'gateway' }
  // A policy without a name is deleted.
  return check === 'policy' && policyId !== null && name !== null ? { kind: 'policy', policyId } : undefined
}

function OutcomeBadge({ outcome: { decision, is_enforced: isEnforced } }: { readonly outcome: Outcome }) {
  if (isEnforced !== null || decision === 'allow')
    return <DecisionBadge decision={decision} isEnforced={isEnforced ?? true} />
  return (
    <Badge tone="none" title={text.modeUnknown}>
      {decisionName(decision)}
    </Badge>
  )
}

function OutcomeScore({ outcome }: { readonly outcome: Outcome }) {
  const { score_bp: score, threshold_bp: threshold, decision, is_enforced: isEnforced } = outcome
  if (score === null) return null
  return (
    <>
      <Score score={score} threshold={threshold} tone={toneOf({ decision, isEnforced: isEnforced ?? true })} />
      <span className={styles.number}>
        {count(score)}
        <small> / {count(threshold)}</small>
      </span>
    </>
  )
}
