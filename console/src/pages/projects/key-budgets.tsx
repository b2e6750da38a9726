import { Link } from '@tanstack/react-router'
import { SmallHeading } from '../../kit/small-heading.tsx'
import { amountText } from '../../session/budget-words.ts'
import { SpentBar } from '../../session/spent-bar.tsx'
import { words } from '../../words/en.ts'
import { useBudgetsOfKey } from './queries.ts'
import styles from './dialogs.module.css'

const text = words.projects.budget

/** The budgets that name a key. Nothing without one, and while they load. */
export function KeyBudgets({ keyId }: { readonly keyId: string }) {
  const { data: budgets, isError } = useBudgetsOfKey(keyId)
  if (isError) return <p className={styles.note}>{words.budgets.failed}</p>
  if (budgets === undefined || budgets.length === 0) return null
  return (
    <section className={styles.budgets}>
      <SmallHeading>{text.ofKey}</SmallHeading>
      <ul>
        {budgets.map(({ budget, highest }) => (
          <li key={budget.id}>
            <span>
              <Link to="/costs" search={{ view: 'budgets', budget: budget.id }}>
                {budget.name}
              </Link>
              <small>{budget.state === 'paused' ? words.budgets.states.paused : amountText(budget)}</small>
            </span>
            {highest !== undefined && <SpentBar budget={budget} member={highest} />}
          </li>
        ))}
      </ul>
    </section>
  )
}
