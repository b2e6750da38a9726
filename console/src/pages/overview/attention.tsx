import { Shape, type Tone } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { time } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import type { Overview } from './queries.ts'
import styles from './rows.module.css'

type Item = Overview['attention'][number]

const tones: Record<Item['severity'], Tone> = { info: 'none', warning: 'warning', error: 'error' }

/** What needs somebody to act, the worst first. */
export function Attention({ items }: { readonly items: readonly Item[] }) {
  return (
    <Card title={words.overview.attention} note={items.length > 0 ? String(items.length) : ''} isFlush>
      {items.length === 0 && <p className={styles.none}>{words.overview.calm}</p>}
      <ul className={styles.rows}>
        {items.map(({ kind, severity, text, since }, at) => (
          <li key={at}>
            <Shape tone={tones[severity]} />
            <span className={styles.text}>{text}</span>
            <span className={styles.end} title={kind}>
              {since === null ? '' : time(since * 1_000)}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
