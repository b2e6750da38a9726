import styles from './score.module.css'

type ScoreProps = { readonly score: number; readonly threshold: number | null; readonly tone?: string }

const full = 10_000

/** A score against its threshold, both in basis points. The words beside it carry the same figures. */
export function Score({ score, threshold, tone }: ScoreProps) {
  return (
    <span className={styles.score} data-tone={tone} aria-hidden="true">
      <i style={{ width: `${(score / full) * 100}%` }} />
      {threshold !== null && <b style={{ left: `${(threshold / full) * 100}%` }} />}
    </span>
  )
}
