import type { ReactNode } from 'react'
import styles from './card.module.css'

type CardProps = {
  readonly title: string
  readonly note?: ReactNode
  readonly children: ReactNode
  readonly isFlush?: boolean
}

/** A titled part of a page. `isFlush`: rows reach its edges. */
export function Card({ title, note, children, isFlush = false }: CardProps) {
  return (
    <section className={styles.card}>
      <header>
        <h2>{title}</h2>
        <span>{note}</span>
      </header>
      <div className={isFlush ? undefined : styles.body}>{children}</div>
    </section>
  )
}
