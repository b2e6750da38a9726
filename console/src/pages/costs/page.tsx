import { useNavigate, useSearch } from '@tanstack/react-router'
import { Button } from '../../kit/button.tsx'
import { Notice } from '../../kit/notice.tsx'
import { TabLinks, type TabLink } from '../../kit/tab-links.tsx'
import { MissingPermission } from '../../session/missing-permission.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import { Budgets } from './budgets.tsx'
import type { CostsSearch } from './search.ts'
import { SpendView } from './spend-view.tsx'
import styles from './page.module.css'

const text = words.costs

/** What requests cost and who spends it, and how much may be spent. */
export function CostsPage() {
  const search: CostsSearch = useSearch({ from: '/costs' })
  const mayReadCosts = useMay('usage:read')
  const mayReadBudgets = useMay('budgets:read')
  const mayChange = useMay('budgets:write')
  const isBudgets = search.view === 'budgets'
  return (
    <div className={styles.page}>
      <TabLinks label={text.parts} tabs={tabs}>
        {isBudgets && mayReadBudgets && <CreateButton mayChange={mayChange} />}
      </TabLinks>
      {isBudgets && mayReadBudgets && !mayChange && (
        <div className={styles.notice}>
          <Notice tone="none">{words.budgets.readOnly}</Notice>
        </div>
      )}
      {isBudgets && (mayReadBudgets ? <Budgets search={search} /> : <MissingPermission needs={['budgets:read']} />)}
      {!isBudgets && (mayReadCosts ? <SpendView by={search.by} /> : <MissingPermission needs={['usage:read']} />)}
    </div>
  )
}

const tab = (name: string, view: CostsSearch['view']): TabLink => ({
  name,
  link: { to: '/costs', search: (before: object) => ({ ...before, view }) },
})

const tabs = [tab(text.views.spend, undefined), tab(text.views.budgets, 'budgets')]

function CreateButton({ mayChange }: { readonly mayChange: boolean }) {
  const navigate = useNavigate({ from: '/costs' })
  return (
    <Button
      look="primary"
      icon="plus"
      disabled={!mayChange}
      title={mayChange ? undefined : words.budgets.lacks}
      onClick={() => void navigate({ to: '/costs', search: (before) => ({ ...before, dialog: 'create' }) })}
    >
      {words.budgets.create}
    </Button>
  )
}
