import { count } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import { useArchive } from './queries.ts'
import styles from './page.module.css'

const text = words.audit.archive

/** Which events are no longer in the log, and where they are. Shows nothing if none was archived. */
export function ArchiveNote() {
  const { data } = useArchive()
  if (!data) return null
  const { first, last } = data
  const days = text.days(first.day, last.day)
  return (
    <p className={styles.quiet}>
      {text.archived(count(first.first_sequence), count(last.last_sequence), days)} {text.targets[last.target]}
    </p>
  )
}
