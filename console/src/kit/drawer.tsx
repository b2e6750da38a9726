import type { ReactNode, Ref } from 'react'
import styles from './drawer.module.css'

type DrawerProps = {
  readonly label: string
  readonly ref?: Ref<HTMLElement>
  /** The first line: badges, the id, and buttons at its end. */
  readonly bar: ReactNode
  /** What the object is called, or what happened, in a sentence. */
  readonly title?: ReactNode
  /** What stands below the title and does not scroll away. */
  readonly lead?: ReactNode
  readonly children: ReactNode
}

/** The open object beside its list; over it on screens that are too narrow for both. */
export const Drawer = ({ label, ref, bar, title, lead, children }: DrawerProps) => (
  <aside ref={ref} className={styles.drawer} aria-label={label}>
    <header className={styles.head}>
      <div className={styles.bar}>{bar}</div>
      {title !== undefined && <div className={styles.title}>{title}</div>}
      {lead}
    </header>
    {children}
  </aside>
)

/** The end of the first line. */
export const DrawerButtons = ({ children }: { readonly children: ReactNode }) => (
  <span className={styles.buttons}>{children}</span>
)

type SectionProps = {
  readonly title?: string
  readonly note?: ReactNode
  /** A button at the end of the heading. */
  readonly action?: ReactNode
  readonly children: ReactNode
}

export const DrawerSection = ({ title, note, action, children }: SectionProps) => (
  <section className={styles.section}>
    {title !== undefined && (
      <header>
        <h2>{title}</h2>
        {action ?? <span>{note}</span>}
      </header>
    )}
    {children}
  </section>
)

type FactsProps = {
  readonly facts: readonly (readonly [name: string, value: ReactNode])[]
  readonly className?: string | undefined
}

export const DrawerFacts = ({ facts, className = '' }: FactsProps) => (
  <dl className={`${styles.facts} ${className}`}>
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
