import { Link, useNavigate } from '@tanstack/react-router'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { LoadMore } from '../../kit/load-more.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { useMay } from '../../session/session.tsx'
import { useSubjectNames, type SubjectNames } from '../../session/subject-names.ts'
import { words } from '../../words/en.ts'
import { BudgetDrawer } from './budget-drawer.tsx'
import { BudgetState } from './budget-state.tsx'
import { CreateBudgetDialog } from './budget-dialog.tsx'
import { actionText, amountText, appliesTo } from '../../session/budget-words.ts'
import { useBudgets, type ListedBudget } from './queries.ts'
import type { CostsSearch } from './search.ts'
import { HighestMember } from './spent.tsx'
import styles from './budgets.module.css'

const text = words.budgets

/** All budgets with what is spent of them, and the open one beside them. */
export function Budgets({ search: { budget: openId, dialog, key } }: { readonly search: CostsSearch }) {
  const mayChange = useMay('budgets:write')
  const query = useBudgets()
  const names = useSubjectNames()
  const navigate = useNavigate({ from: '/costs' })
  const { rows } = query
  return (
    <div className={styles.split} data-open={openId !== undefined}>
      <div className={styles.list}>
        {query.isPending && <LoadingRows widths={[140, 200, 90, 60]} />}
        {query.isError && rows.length === 0 && (
          <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />
        )}
        {query.isSuccess && rows.length === 0 && (
          <EmptyState title={text.none}>
            <p>{text.noneText}</p>
            <CodeBlock code={text.listCommand} />
          </EmptyState>
        )}
        {rows.length > 0 && (
          <DataTable
            label={words.costs.views.budgets}
            rows={rows}
            columns={columnsOf(names)}
            idOf={({ id }) => id}
            selectedId={openId}
          />
        )}
        <LoadMore query={query} />
      </div>
      {openId !== undefined && <BudgetDrawer key={openId} id={openId} dialog={dialog} names={names} />}
      {dialog === 'create' && mayChange && (
        <CreateBudgetDialog
          keyId={key}
          onClose={() => void navigate({ search: (before) => ({ ...before, dialog: undefined, key: undefined }) })}
          onCreated={(id) => void navigate({ search: { view: 'budgets', budget: id } })}
        />
      )}
    </div>
  )
}

const columnsOf = (names: SubjectNames): readonly DataColumn<ListedBudget>[] => [
  {
    id: 'name',
    name: text.name,
    cell: ({ id, name, state }) => (
      <>
        <Link className={styles.name} to="/costs" title={name} search={{ view: 'budgets', budget: id }}>
          {name}
        </Link>
        {state === 'paused' && <small className={styles.narrow}>{text.states.paused}</small>}
      </>
    ),
  },
  {
    id: 'applies',
    name: text.appliesTo,
    priority: 3,
    cell: (budget) => (
      <span className={styles.applies} title={appliesTo(budget, names)}>
        {appliesTo(budget, names)}
      </span>
    ),
  },
  { id: 'amount', name: text.amount, priority: 2, cell: amountText },
  { id: 'spent', name: text.spent, cell: (budget) => <HighestMember budget={budget} /> },
  {
    id: 'action',
    name: text.action,
    priority: 2,
    cell: ({ action }) => actionText(action),
  },
  { id: 'state', name: text.state, priority: 2, cell: (budget) => <BudgetState budget={budget} /> },
]
