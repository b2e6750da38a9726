import { Badge } from '../../kit/badge.tsx'
import { words } from '../../words/en.ts'
import type { Budget } from './queries.ts'
import styles from './budgets.module.css'

const text = words.budgets

/** Whether a budget counts, and whether files manage it. */
export const BudgetState = ({ budget: { state, managed_by: owner } }: { readonly budget: Budget }) => (
  <span className={styles.state}>
    <Badge tone={state === 'active' ? 'allow' : 'none'}>{text.states[state]}</Badge>
    {owner !== undefined && (
      <Badge tone="none" title={text.managed(owner)}>
        {text.managedBadge}
      </Badge>
    )}
  </span>
)
