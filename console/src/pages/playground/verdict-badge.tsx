import { DecisionBadge } from '../../kit/decision-badge.tsx'
import { words } from '../../words/en.ts'
import type { Evaluation } from './queries.ts'
import styles from './checks-card.module.css'

/**
 * The verdict of the checks that were evaluated. A rule that was not evaluated is mentioned beside it: it is no pass, but it
 * must not hide what the others decided.
 */
export function VerdictBadge({ evaluation: { verdict, outcomes } }: { readonly evaluation: Evaluation }) {
  const isOpen = verdict.decision === 'not_evaluated'
  const skipped = outcomes.filter(({ decision }) => decision === 'not_evaluated').length
  return (
    <>
      <DecisionBadge
        decision={isOpen ? verdict.effective_decision : verdict.decision}
        isEnforced={isOpen || verdict.enforced}
      />
      {skipped > 0 && <span className={styles.reason}>{words.request.notEvaluated(skipped)}</span>}
    </>
  )
}
