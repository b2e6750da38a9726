import { Shape } from '../kit/badge.tsx'
import { time } from '../kit/format.ts'
import { useLostConnection } from '../session/connection.ts'
import { words } from '../words/en.ts'
import styles from './connection-banner.module.css'

const text = words.shell.lost

/** Says on every page that the server does not answer, and of when the page is. */
export function ConnectionBanner() {
  const lost = useLostConnection()
  if (lost === undefined) return null
  return (
    <p className={styles.banner} data-tone="warning" role="alert">
      <Shape tone="warning" />
      <strong>{text.title}</strong> <span>{text.text(time(lost.sinceMs))}</span>
    </p>
  )
}
