import { Shape, type Tone } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { words } from '../../words/en.ts'
import type { Overview } from '../../session/overview.ts'
import styles from './rows.module.css'

type Part = Overview['health'][number]

const tones: Record<Part['state'], Tone> = { ok: 'allow', degraded: 'warning', failing: 'error' }

/** The parts of the service and how each does. */
export function Health({ parts }: { readonly parts: readonly Part[] }) {
  return (
    <Card title={words.overview.health} isFlush>
      <ul className={styles.rows}>
        {parts.map(({ part, state, text }) => (
          <li key={part}>
            <Shape tone={tones[state]} />
            <span className={styles.text}>{part}</span>
            <span className={styles.end}>{text ?? words.overview.states[state]}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
