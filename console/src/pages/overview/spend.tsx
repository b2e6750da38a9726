import { Link } from '@tanstack/react-router'
import { Card } from '../../kit/card.tsx'
import { count, dollars } from '../../kit/format.ts'
import { shortId } from '../../kit/short-id.tsx'
import { words } from '../../words/en.ts'
import type { Overview } from '../../session/overview.ts'
import type { OverviewPeriod } from './queries.ts'
import styles from './spend.module.css'

const text = words.overview

type Spender = NonNullable<OverviewPeriod['spending_projects']>[number]

type SpendProps = {
  readonly spend: Overview['spend']
  readonly period: Pick<OverviewPeriod, 'spending_projects' | 'spending_keys'>
}

/** What was spent, how long the credit lasts at this rate, and who spent most in the time range. */
export function Spend({ spend, period: { spending_projects: projects, spending_keys: keys } }: SpendProps) {
  const figures = [
    [text.today, dollars(spend.today_usd)],
    [text.month, dollars(spend.month_usd)],
    ...(spend.balance_usd === null ? [] : [[text.balance, dollars(spend.balance_usd)]]),
    ...(spend.days_left === null ? [] : [[text.lasts, `${count(spend.days_left)} ${text.days}`]]),
  ]
  return (
    <Card title={text.spend} note={<Link to="/limits">{text.spendLink}</Link>}>
      <dl className={styles.figures}>
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {projects && keys && projects.length + keys.length === 0 && <p className={styles.none}>{text.noSpend}</p>}
      {projects && projects.length > 0 && <Spenders title={text.topProjects} field="project_id" spenders={projects} />}
      {keys && keys.length > 0 && <Spenders title={text.topKeys} field="api_key_id" spenders={keys} />}
    </Card>
  )
}

type SpendersProps = {
  readonly title: string
  readonly field: 'project_id' | 'api_key_id'
  readonly spenders: readonly Spender[]
}

/** Each leads to its requests. The bars are relative to the first. */
function Spenders({ title, field, spenders }: SpendersProps) {
  const most = spenders[0]?.spent_usd ?? 0
  return (
    <>
      <h3 className={styles.title}>{title}</h3>
      <ul className={styles.spenders}>
        {spenders.map(({ id, name, spent_usd: spent }) => (
          <li key={id}>
            <Link to="/requests" search={{ [field]: id }} title={id}>
              {name ?? shortId(id)}
            </Link>
            <meter min={0} max={most} value={spent} aria-hidden="true" />
            <span>{dollars(spent)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
