import { Button } from '../../kit/button.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, time } from '../../kit/format.ts'
import { ErrorNotice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { bodyOfDraft, isComplete, type BudgetDraft } from './budget-draft.ts'
import { usePlan, type BudgetPlan } from './queries.ts'
import styles from './budgets.module.css'

const text = words.budgets.plan

/** Whom the budget that is being typed would have stopped in the last 30 days. A change of the form makes the answer old. */
export function Plan({ draft }: { readonly draft: BudgetDraft }) {
  const plan = usePlan()
  const body = bodyOfDraft(draft)
  const isCurrent = JSON.stringify(plan.variables) === JSON.stringify(body)
  return (
    <div className={styles.plan}>
      <Button isSmall disabled={!isComplete(draft) || plan.isPending} onClick={() => plan.mutate(body)}>
        {text.run}
      </Button>
      {plan.isError && isCurrent && <ErrorNotice error={plan.error} />}
      <div role="status">{plan.data && isCurrent && <Stops plan={plan.data} />}</div>
    </div>
  )
}

type Stop = BudgetPlan['data'][number]

function Stops({ plan: { data, members, requests, has_more: hasMore } }: { readonly plan: BudgetPlan }) {
  if (members === 0) return <p>{text.none}</p>
  const [who, sent] = [text.members(count(members), members === 1), text.requests(count(requests), requests === 1)]
  return (
    <>
      <p>{text.some(who, sent)}</p>
      <DataTable label={text.run} rows={data} columns={columns} idOf={idOf} />
      {hasMore && <p>{text.more}</p>}
    </>
  )
}

const idOf = ({ member, period_start: start }: Stop): string => `${start} ${member ?? ''}`

const columns: readonly DataColumn<Stop>[] = [
  { id: 'member', name: text.who, cell: ({ member, name }) => name ?? member ?? words.budgets.together },
  { id: 'reached', name: text.reached, cell: ({ reached_at: at }) => time(at * 1_000) },
  { id: 'after', name: text.after, isNumber: true, cell: ({ requests_after: after }) => count(after) },
]
