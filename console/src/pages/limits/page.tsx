import { useSearch } from '@tanstack/react-router'
import { TabLinks, type TabLink } from '../../kit/tab-links.tsx'
import { words } from '../../words/en.ts'
import { LedgerView } from './ledger.tsx'
import { LimitsOfScopes } from './limits.tsx'
import type { LimitsSearch, LimitsView } from './search.ts'
import { Spending } from './spending.tsx'
import styles from './page.module.css'

const text = words.limits

/** What is spent and by whom, the limits and who is close to them, and the ledger. */
export function LimitsPage() {
  const search: LimitsSearch = useSearch({ from: '/limits' })
  return (
    <div className={styles.page}>
      <TabLinks label={text.parts} tabs={tabs} />
      <div className={styles.content}>
        {(search.view ?? 'spending') === 'spending' && <Spending group={search.by ?? 'project'} />}
        {search.view === 'limits' && <LimitsOfScopes search={search} />}
        {search.view === 'ledger' && <LedgerView search={search} />}
      </div>
    </div>
  )
}

const tab = (name: string, view: LimitsView | undefined): TabLink => ({
  name,
  link: { to: '/limits', search: (before: object) => ({ ...before, view }) },
})

const tabs = [tab(text.views.spending, undefined), tab(text.views.limits, 'limits'), tab(text.views.ledger, 'ledger')]
