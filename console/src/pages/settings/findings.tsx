import { Shape, type Tone } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { words } from '../../words/en.ts'
import type { Finding } from './queries.ts'
import styles from './page.module.css'

const text = words.settings

const tones: Record<Finding['state'], Tone> = { ok: 'allow', warning: 'warning', wrong: 'error' }

/** What the node found about itself: problems first, the rest behind a line. */
export function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  const problems = findings.filter(({ state }) => state !== 'ok')
  const passed = findings.filter(({ state }) => state === 'ok')
  return (
    <Card title={text.findings} note={text.findingsNote(problems.length)}>
      <List findings={problems} />
      <details className={styles.passed}>
        <summary>{text.passed(passed.length)}</summary>
        <List findings={passed} />
      </details>
      <p className={styles.purpose}>{text.doctor}</p>
    </Card>
  )
}

function List({ findings }: { readonly findings: readonly Finding[] }) {
  if (findings.length === 0) return null
  return (
    <ul className={styles.findings}>
      {findings.map(({ part, state, message, fix }) => (
        <li key={part}>
          <Shape tone={tones[state]} />
          <span>
            <span className={styles.state}>{text.states[state]}</span> <strong>{part}</strong>: {message}
            {fix !== null && (
              <small>
                {text.fix} {fix}
              </small>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}
