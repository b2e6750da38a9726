import { Outlet, useParams, useSearch } from '@tanstack/react-router'
import { TabLinks, type TabLink } from '../../kit/tab-links.tsx'
import { words } from '../../words/en.ts'
import { ArchiveNote } from './archive-note.tsx'
import { EventList } from './event-list.tsx'
import type { AuditSearch, AuditView } from './search.ts'
import { VerifyView } from './verify.tsx'
import styles from './page.module.css'

export { EventDrawer } from './event-drawer.tsx'

const text = words.audit

/** Changes by administrators and acts of the service, and how to verify the log. */
export function AuditPage() {
  const search: AuditSearch = useSearch({ from: '/audit' })
  const { eventId } = useParams({ strict: false })
  return (
    <div className={styles.split} data-open={eventId !== undefined}>
      <section className={styles.page} aria-label={words.pages.audit}>
        <TabLinks label={text.parts} tabs={tabs} />
        <div className={styles.content}>
          <ArchiveNote />
          {search.view === 'verify' ? <VerifyView /> : <EventList search={search} selectedId={eventId} />}
        </div>
      </section>
      <Outlet />
    </div>
  )
}

const tab = (name: string, view: AuditView | undefined): TabLink => ({
  name,
  link: { to: '/audit', search: (before: object) => ({ ...before, view }) },
})

const tabs = [tab(text.views.events, undefined), tab(text.views.verify, 'verify')]
