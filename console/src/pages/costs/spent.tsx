import { count, percent } from '../../kit/format.ts'
import { Share } from '../../kit/share.tsx'
import { words } from '../../words/en.ts'
import { amountOf, spentText } from './budget-words.ts'
import type { Budget, BudgetStatus, ListedBudget } from './queries.ts'
import styles from './spent.module.css'

const text = words.budgets

/** A member with this share of its amount is near it, in percent. */
const near = 80

export type Member = BudgetStatus['members'][number]

type MemberProps = { readonly budget: Budget; readonly member: Member; readonly unit: BudgetStatus['unit'] }

/** What a member spent of its amount. */
export function SpentBar({ budget, member: { spent, amount, percent: share }, unit }: MemberProps) {
  return (
    <>
      <span className={styles.figures}>
        <span>{spentText(unit, spent, amount)}</span>
        <span>{percent(share / 100)}</span>
      </span>
      <Share share={share / 100} tone={toneOf(budget, share)} />
    </>
  )
}

/** A paused budget acts on nothing. */
function toneOf({ state, action }: Budget, share: number): 'deny' | 'warning' | undefined {
  if (state === 'paused') return undefined
  if (share >= 100 && action === 'deny') return 'deny'
  return share >= near ? 'warning' : undefined
}

/** In the list: the member with the highest share, and how many have reached the lowest threshold. */
export function HighestMember({ budget }: { readonly budget: ListedBudget }) {
  const { status, per, warn_at: warnAt } = budget
  if (status == null) return <span className={styles.quiet}>{text.statusFailed}</span>
  if (status.highest === null) return <span className={styles.quiet}>{text.nothing}</span>
  return (
    <span className={styles.cell}>
      <SpentBar budget={budget} member={status.highest} unit={amountOf(budget).unit} />
      {per !== 'all' && status.near > 0 && <small>{text.near(count(status.near), Math.min(...warnAt))}</small>}
    </span>
  )
}
