import { useNavigate, useSearch } from '@tanstack/react-router'
import { Button } from '../../kit/button.tsx'
import { Notice } from '../../kit/notice.tsx'
import { TabLinks } from '../../kit/tab-links.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import { Channels } from './channels.tsx'
import { History } from './history.tsx'
import { Rules } from './rules.tsx'
import { tabs, type AlertsSearch, type Tab } from './search.ts'
import styles from './page.module.css'

const text = words.alerts

/** When alerts are sent, where, and what was sent. The address holds the tab and the open dialog. */
export function AlertsPage() {
  const search: AlertsSearch = useSearch({ from: '/alerts' })
  const tab = search.tab ?? 'rules'
  const mayChange = useMay('alerts:write')
  return (
    <section className={styles.page} aria-label={words.pages.alerts}>
      <TabLinks label={text.parts} tabs={tabs.map((each) => ({ name: text.tabs[each], link: linkTo(each) }))}>
        {tab !== 'history' && <CreateButton tab={tab} mayChange={mayChange} />}
      </TabLinks>
      {!mayChange && (
        <div className={styles.notice}>
          <Notice tone="none">{text.readOnly}</Notice>
        </div>
      )}
      <Part tab={tab} search={search} mayChange={mayChange} />
    </section>
  )
}

const linkTo = (tab: Tab) => ({ to: '/alerts' as const, search: { tab: tab === 'rules' ? undefined : tab } })

export type PartProps = { readonly search: AlertsSearch; readonly mayChange: boolean }

function Part({ tab, ...props }: PartProps & { readonly tab: Tab }) {
  if (tab === 'channels') return <Channels {...props} />
  return tab === 'history' ? <History /> : <Rules {...props} />
}

function CreateButton({ tab, mayChange }: { readonly tab: 'rules' | 'channels'; readonly mayChange: boolean }) {
  const navigate = useNavigate({ from: '/alerts' })
  return (
    <Button
      look="primary"
      icon="plus"
      disabled={!mayChange}
      title={mayChange ? undefined : text.lacks}
      onClick={() => void navigate({ to: '/alerts', search: (before) => ({ ...before, dialog: 'create' }) })}
    >
      {text.create[tab]}
    </Button>
  )
}
