import { useProjectNames } from '../../api/names.ts'
import { words } from '../../words/en.ts'
import { linesOf, type PolicyContent } from './content.ts'
import { lineDiff } from './line-diff.ts'
import styles from './content-diff.module.css'

const signs = { same: ' ', added: '+', removed: '−' } as const

type DiffProps = { readonly label: string; readonly before: PolicyContent; readonly after: PolicyContent }

/** The rule and the settings of two contents, line by line. The signs say what the colours say. */
export function ContentDiff({ label, before, after }: DiffProps) {
  const projects = useProjectNames()
  const nameOf = (id: string): string => projects.get(id) ?? id
  const lines = lineDiff(linesOf(before, nameOf), linesOf(after, nameOf))
  if (lines.every(({ kind }) => kind === 'same')) return <p className={styles.none}>{words.policy.noChanges}</p>
  return (
    <div className={styles.diff} role="region" aria-label={label} tabIndex={0}>
      {lines.map(({ kind, text }, at) => (
        <div key={at} data-kind={kind}>
          <span className={styles.sign}>{signs[kind]}</span>
          <code>{text}</code>
        </div>
      ))}
    </div>
  )
}
