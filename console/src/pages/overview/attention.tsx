import { Link } from '@tanstack/react-router'
import {
  attentionAction,
  attentionLink,
  severityTones,
  urgentCount,
  type AttentionItem,
} from '../../session/attention.ts'
import { Shape } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { time } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import styles from './rows.module.css'

/** What needs somebody to act, the worst first. Each leads to its object, and to the place where to act. */
export function Attention({ items }: { readonly items: readonly AttentionItem[] }) {
  const urgent = urgentCount(items)
  return (
    <Card title={words.overview.attention} note={urgent > 0 ? String(urgent) : ''} isFlush>
      {items.length === 0 && <p className={styles.none}>{words.overview.calm}</p>}
      <ul className={styles.rows}>
        {items.map((item, at) => (
          <li key={at}>
            <Shape tone={severityTones[item.severity]} />
            <span className={styles.text}>
              <Link {...attentionLink(item)}>{item.text}</Link>
              <span className={styles.since}>{item.since === null ? '' : time(item.since * 1_000)}</span>
            </span>
            <AttentionAction item={item} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function AttentionAction({ item }: { readonly item: AttentionItem }) {
  const { name, link } = attentionAction(item)
  return (
    <Link {...link} className={styles.action} aria-label={`${name}: ${item.text}`}>
      {name}
    </Link>
  )
}
