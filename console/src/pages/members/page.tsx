import { Link, useSearch } from '@tanstack/react-router'
import { useMay, useMe } from '../../session/session.tsx'
import { Notice } from '../../kit/notice.tsx'
import { MissingPermission } from '../../session/missing-permission.tsx'
import { TabLinks } from '../../kit/tab-links.tsx'
import { words } from '../../words/en.ts'
import { People } from './people.tsx'
import { Roles } from './roles.tsx'
import { tabs, type MembersSearch, type Tab } from './search.ts'
import { SignIns } from './sign-ins.tsx'
import styles from './page.module.css'

const text = words.members

/** People, roles and signed-in browsers. The address holds the tab, the filters and the open dialog. */
export function MembersPage() {
  const search: MembersSearch = useSearch({ from: '/members' })
  const tab = search.tab ?? 'people'
  const mayRead = useMay('members:read')
  const mayChange = useMay('members:write')
  const { features } = useMe()
  return (
    <section className={styles.page} aria-label={words.pages.members}>
      <TabLinks label={text.parts} tabs={tabs.map((each) => ({ name: text.tabs[each], link: linkTo(each, search) }))}>
        <Link to="/projects" search={{ tab: 'administrators' }}>
          {text.adminKeys}
        </Link>
      </TabLinks>
      {tab === 'people' && !features.oidc && (
        <div className={styles.notice}>
          <Notice tone="warning">{text.noProvider}</Notice>
        </div>
      )}
      {mayRead && !mayChange && tab !== 'roles' && (
        <div className={styles.notice}>
          <Notice tone="none">{text.readOnly}</Notice>
        </div>
      )}
      <Part tab={tab} search={search} mayChange={mayChange} />
    </section>
  )
}

/** Filters belong to their list, so another tab begins without them. */
const linkTo = (tab: Tab, search: MembersSearch) => ({
  to: '/members' as const,
  search: tab === (search.tab ?? 'people') ? search : { tab: tab === 'people' ? undefined : tab },
})

type PartProps = {
  readonly tab: Tab
  readonly search: MembersSearch
  readonly mayChange: boolean
}

function Part({ tab, search, mayChange }: PartProps) {
  const mayRead = useMay('members:read')
  // Everybody may see what the roles are, to ask for one.
  if (tab === 'roles') return <Roles />
  if (!mayRead) return <MissingPermission needs={['members:read']} />
  return tab === 'people' ? (
    <People search={search} mayChange={mayChange} />
  ) : (
    <SignIns search={search} mayChange={mayChange} />
  )
}
