import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { Fragment, lazy, Suspense, useEffect, useRef, useState } from 'react'
import { IconButton } from '../kit/button.tsx'
import { setZone } from '../kit/format.ts'
import { Icon, Logo } from '../kit/icon.tsx'
import { words } from '../words/en.ts'
import { ConnectionBanner } from './connection-banner.tsx'
import { CommandPalette } from './command-palette.tsx'
import { PageBones } from './page-bones.tsx'
import { PageGate } from './page-gate.tsx'
import { mayOpen, pages } from './pages.ts'
import { useMeIfKnown } from '../session/session.tsx'
import { usePageTitle } from '../session/title.ts'
import { useZone } from '../session/time-range.ts'
import styles from './shell.module.css'

/** Menus are a fourth of the code that every page needs, so they are loaded after the first page. */
const AccountMenu = lazy(async () => ({ default: (await import('./top-menus.tsx')).AccountMenu }))
const TopMenus = lazy(async () => ({ default: (await import('./top-menus.tsx')).TopMenus }))

/** The frame of every page: sidebar, top bar, and the page below it. */
export function Shell() {
  const [isMenuOpen, setMenuOpen] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const current = pages.find(({ to }) => path.startsWith(to))
  const me = useMeIfKnown()
  const shown = me === undefined ? pages : pages.filter((page) => mayOpen(page, me.permissions))
  const menuButton = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!isMenuOpen) return undefined
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape') return
      setMenuOpen(false)
      menuButton.current?.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [isMenuOpen])
  usePageTitle(current?.name ?? words.shell.notFound.tab)
  const zone = useZone()
  setZone(zone)
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#page">
        {words.shell.skip}
      </a>
      <aside className={styles.side} data-open={isMenuOpen} onClick={() => setMenuOpen(false)}>
        <div className={styles.organization}>
          <Logo />
          {me && <span title={me.organization.id}>{me.organization.name}</span>}
        </div>
        <nav aria-label={words.shell.pages}>
          {shown.map(({ to, name, icon, group }, at) => (
            <Fragment key={to}>
              {group && group !== shown[at - 1]?.group && <h2 className={styles.group}>{words.shell.groups[group]}</h2>}
              <Link to={to} className={styles.link} activeProps={{ 'aria-current': 'page' }}>
                <Icon name={icon} />
                {name}
              </Link>
            </Fragment>
          ))}
        </nav>
        <div className={styles.account}>
          <Suspense>{me && <AccountMenu />}</Suspense>
        </div>
      </aside>
      {isMenuOpen && <div className={styles.scrim} onClick={() => setMenuOpen(false)} />}
      <div className={styles.main}>
        <header className={styles.top}>
          <IconButton
            ref={menuButton}
            className={styles.menuButton}
            icon="menu"
            label={words.shell.menu}
            aria-expanded={isMenuOpen}
            onClick={() => setMenuOpen(true)}
          />
          <h1 className={styles.title}>{current?.name ?? words.shell.notFound.tab}</h1>
          <CommandPalette isEnabled={me !== undefined} />
          <div className={styles.menus}>
            <Suspense>{me && <TopMenus />}</Suspense>
          </div>
        </header>
        {me && <ConnectionBanner />}
        <main id="page" className={styles.page} tabIndex={-1}>
          {/* Every time on the page is rendered again in another zone. */}
          {me ? (
            <PageGate key={zone} page={current}>
              <Outlet />
            </PageGate>
          ) : (
            <PageBones />
          )}
        </main>
      </div>
    </div>
  )
}
