import { DecisionBadge, toneOf } from './decision-badge.tsx'
import { count } from './format.ts'
import { Score } from './score.tsx'
import { words } from '../words/en.ts'
import type { components } from '../api/schema.d.ts'
import styles from './outcomes.module.css'

export type Outcome = Omit<components['schemas']['RequestDetail']['outcomes'][number], 'check'> & {
  readonly check: string
}

const text = words.request

/** The outcome of each check, with its score against the threshold. */
export function Outcomes({
  outcomes,
  isChecked,
}: {
  readonly outcomes: readonly Outcome[]
  readonly isChecked: boolean
}) {
  if (outcomes.length === 0) return <p className={styles.none}>{isChecked ? text.noOutcomes : text.notChecked}</p>
  return (
    <ul className={styles.outcomes}>
      {outcomes.map((outcome, at) => (
        <li key={at}>
          <span className={styles.name} title={outcome.policy_id ?? undefined}>
            {outcome.name ?? outcome.policy_id ?? outcome.check}{' '}
            {outcome.version !== null && <small>v{outcome.version}</small>}
          </span>
          <DecisionBadge decision={outcome.decision} isEnforced={outcome.is_enforced} />
          {outcome.score_bp !== null && (
            <>
              <Score
                score={outcome.score_bp}
                threshold={outcome.threshold_bp}
                tone={toneOf({ decision: outcome.decision, isEnforced: outcome.is_enforced })}
              />
              <span className={styles.number}>
                {count(outcome.score_bp)}
                <small> / {count(outcome.threshold_bp)}</small>
              </span>
            </>
          )}
        </li>
      ))}
    </ul>
  )
}
