import { Link, type LinkProps } from '@tanstack/react-router'
import styles from './tab-links.module.css'

export type TabLink = { readonly name: string; readonly link: LinkProps }

/** Parts of a page, each with an address of its own: a path, or a path with search parameters. */
export function TabLinks({ label, tabs }: { readonly label: string; readonly tabs: readonly TabLink[] }) {
  return (
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
  )
}
