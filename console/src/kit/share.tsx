import styles from './share.module.css'

/** A part of a whole as a bar. The figures stand beside it. */
export const Share = ({ share, tone }: { readonly share: number; readonly tone?: string | undefined }) => (
  <span className={styles.share} aria-hidden="true">
    <i data-tone={tone} style={{ width: `${(Math.min(1, share) * 100).toFixed(1)}%` }} />
  </span>
)
