import { count } from '../../kit/format.ts'
import { SpentBar } from '../../session/spent-bar.tsx'
import { words } from '../../words/en.ts'
import type { ListedBudget } from './queries.ts'
import styles from './spent.module.css'

const text = words.budgets

/** In the list: the member with the highest share, and how many have reached the lowest threshold. */
export function HighestMember({ budget }: { readonly budget: ListedBudget }) {
  const { status, per, warn_at: warnAt } = budget
  if (status == null) return <span className={styles.quiet}>{text.statusFailed}</span>
  if (status.highest === null) return <span className={styles.quiet}>{text.nothing}</span>
  return (
    <span className={styles.cell}>
      <SpentBar budget={budget} member={status.highest} />
      {per !== 'all' && status.near > 0 && <small>{text.near(count(status.near), Math.min(...warnAt))}</small>}
    </span>
  )
}
