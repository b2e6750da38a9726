import type { components } from '../api/schema.d.ts'
import { percent } from '../kit/format.ts'
import { Share } from '../kit/share.tsx'
import { amountOf, spentText } from './budget-words.ts'
import styles from './spent-bar.module.css'

type Budget = components['schemas']['Budget']

/** A member with this share of its amount is near it, in percent. */
const near = 80

type BarProps = { readonly budget: Budget; readonly member: components['schemas']['BudgetMember'] }

/** What a member spent of its amount. */
export function SpentBar({ budget, member: { spent, amount, percent: share } }: BarProps) {
  return (
    <>
      <span className={styles.figures}>
        <span>{spentText(amountOf(budget).unit, spent, amount)}</span>
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
