import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import styles from './tab-links.module.css'

export type TabLink = { readonly name: string; readonly link: LinkProps }

type TabLinksProps = {
  readonly label: string
  readonly tabs: readonly TabLink[]
  /** The tabs of a card, which has its own inset. Otherwise they are the first line of a page, as wide as it. */
  readonly isInCard?: boolean
  /** At the end of the line. */
  readonly children?: ReactNode
}

/** Parts of a page, each with an address of its own: a path, or a path with search parameters. */
export function TabLinks({ label, tabs, isInCard = false, children }: TabLinksProps) {
  return (
    <div className={`${styles.line} ${isInCard ? styles.inCard : ''}`}>
      <nav className={styles.tabs} aria-label={label}>
        {tabs.map(({ name, link }) => (
          <Link
            key={name}
            {...link}
            activeOptions={{ exact: true, includeSearch: link.search !== undefined }}
            activeProps={{ 'aria-current': 'page' }}
          >
            {name}
          </Link>
        ))}
      </nav>
      {children && <div className={styles.end}>{children}</div>}
    </div>
  )
}
