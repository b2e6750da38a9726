import { useMe } from '../../session/session.tsx'
import { count, dollars, shortCount } from '../../kit/format.ts'
import { Notice } from '../../kit/notice.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { ChangeCredits } from './change-credits.tsx'
import { useBalance, useBurn, type Balance } from './queries.ts'
import type { UseGroup } from './search.ts'
import { UseCard } from './use-card.tsx'
import styles from './spending.module.css'

const text = words.limits

/** The balance and how long it lasts, and who spends it. */
export function Spending({ group }: { readonly group: UseGroup }) {
  const balance = useBalance()
  const { organization } = useMe()
  if (balance.isPending) return <LoadingRows widths={[120, 120, 120, 120]} rows={6} />
  if (balance.isError)
    return <FailureState title={text.failed} error={balance.error} onRetry={() => void balance.refetch()} />
  const { debt_credits: debt } = balance.data
  return (
    <>
      {!organization.metered && <Notice tone="none">{text.notMetered}</Notice>}
      {debt > 0 && <Notice tone="warning">{text.debt(count(debt))}</Notice>}
      <Figures balance={balance.data} />
      <ChangeCredits />
      <UseCard group={group} />
    </>
  )
}

type Figure = { readonly name: string; readonly value: string; readonly unit: string; readonly hint?: string }

function Figures({ balance }: { readonly balance: Balance }) {
  const burn = useBurn().data
  const { metered } = useMe().organization
  const daysLeft = burn === undefined || burn === 0 || !metered ? undefined : balance.remaining_credits / burn
  /** In dollars like every cost of the console, with the credits that the ledger counts. */
  const money = (credits: number) => ({
    value: dollars(credits * balance.credit_usd),
    unit: text.inCredits(shortCount(credits)),
  })
  const figures: readonly Figure[] = [
    { name: text.balance, ...money(balance.remaining_credits) },
    { name: text.held, ...money(balance.held_credits), hint: text.heldHint },
    { name: text.burn, ...(burn === undefined ? { value: '', unit: '' } : money(burn)), hint: text.burnHint },
    ...(daysLeft === undefined ? [] : [{ name: text.lasts, value: amount(daysLeft), unit: text.days }]),
    { name: text.spent, ...money(balance.spent_credits) },
  ]
  return (
    <dl className={styles.figures}>
      {figures.map(({ name, value, unit, hint }) => (
        <div key={name} title={hint}>
          <dt>{name}</dt>
          <dd>
            <span className={styles.value}>{value}</span> <span className={styles.unit}>{unit}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

const amount = (value: number): string => (value < 10 ? value.toFixed(1) : shortCount(value))
