import { Link } from '@tanstack/react-router'
import { Shape } from '../../kit/badge.tsx'
import { DrawerSection } from '../../kit/drawer.tsx'
import { dateAndTime } from '../../kit/format.ts'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { SpentBar } from '../../session/spent-bar.tsx'
import type { SubjectNames } from '../../session/subject-names.ts'
import { words } from '../../words/en.ts'
import { inUnit } from '../../session/budget-words.ts'
import { useStatus, type Budget, type BudgetStatus } from './queries.ts'
import styles from './spent.module.css'

const text = words.budgets

type Member = BudgetStatus['members'][number]

type MembersProps = { readonly budget: Budget; readonly names: SubjectNames }

/** What each member spent in the current period, the highest share first. */
export function Members({ budget, names }: MembersProps) {
  const query = useStatus(budget.id)
  const status = query.data
  return (
    <DrawerSection title={text.members} note={status && periodText(status)}>
      {budget.state === 'paused' && <p className={styles.quiet}>{text.paused}</p>}
      {query.isPending && <LoadingRows widths={[90, 220, 60]} rows={3} />}
      {query.isError && (
        <FailureState title={text.statusFailed} error={query.error} onRetry={() => void query.refetch()} />
      )}
      {status?.members.length === 0 && <p className={styles.quiet}>{text.noMembers}</p>}
      {status && status.members.length > 0 && (
        <ul className={styles.members}>
          {status.members.map((member) => (
            <li key={member.member ?? ''}>
              <MemberName member={member} per={budget.per} names={names} />
              <SpentBar budget={budget} member={member} />
              <Note member={member} unit={status.unit} />
            </li>
          ))}
        </ul>
      )}
      {status?.has_more === true && <p className={styles.quiet}>{text.moreMembers}</p>}
    </DrawerSection>
  )
}

function periodText({ period_start: start, period_end: end }: BudgetStatus): string {
  const from = dateAndTime(start * 1_000)
  return end === null ? text.since(from) : text.fromTo(from, dateAndTime(end * 1_000))
}

const filterOf: Readonly<Record<string, string>> = { project: 'project_id', key: 'api_key_id', user: 'user_id' }

type NameProps = { readonly member: Member; readonly per: string; readonly names: SubjectNames }

/** Leads to the requests of a project, key or user. */
function MemberName({ member: { member: id, name }, per, names }: NameProps) {
  if (id === null) return <span className={styles.name}>{text.together}</span>
  const shown = name ?? names.projects.get(id) ?? names.keys.get(id) ?? id
  const filter = filterOf[per]
  if (filter === undefined) return <span className={styles.name}>{shown}</span>
  return (
    <Link className={styles.name} to="/requests" search={{ [filter]: id }} title={id}>
      {shown}
    </Link>
  )
}

type NoteProps = { readonly member: Member; readonly unit: BudgetStatus['unit'] }

/** What is left, and what is spent at the end of the period at this rate. */
function Note({ member: { amount, left, forecast }, unit }: NoteProps) {
  return (
    <span className={styles.note}>
      <span>{text.left(inUnit(unit, left))}</span>
      {forecast !== null && (
        <span data-tone={forecast > amount ? 'warning' : undefined}>
          {forecast > amount && <Shape tone="warning" />}
          {text.forecast(inUnit(unit, forecast))}
        </span>
      )}
    </span>
  )
}
