import { Card } from '../../kit/card.tsx'
import { count, dollars } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import type { Overview } from '../../session/overview.ts'
import styles from './spend.module.css'

const text = words.overview

/** What was spent, and how long the credit lasts at this rate. */
export function Spend({ spend }: { readonly spend: Overview['spend'] }) {
  const figures = [
    [text.today, dollars(spend.today_usd)],
    [text.month, dollars(spend.month_usd)],
    ...(spend.balance_usd === null ? [] : [[text.balance, dollars(spend.balance_usd)]]),
    ...(spend.days_left === null ? [] : [[text.lasts, `${count(spend.days_left)} ${text.days}`]]),
  ]
  return (
    <Card title={text.spend}>
      <dl className={styles.figures}>
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
