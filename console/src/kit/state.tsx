import type { ReactNode } from 'react'
import { errorText, isApiError, isSignedOutError } from '../api/error.ts'
import { words } from '../words/en.ts'
import { Shape } from './badge.tsx'
import { Button } from './button.tsx'
import styles from './state.module.css'

type StateProps = { readonly title: string; readonly children?: ReactNode; readonly actions?: ReactNode }

/** In place of data: nothing was found, or nothing exists yet. Says why, and what to do. */
export function EmptyState({ title, children, actions }: StateProps) {
  return (
    <div className={styles.state}>
      <strong>{title}</strong>
      {children}
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
  )
}

type FailureProps = { readonly title: string; readonly error: unknown; readonly onRetry: () => void }

/** In place of data that could not be loaded. Nothing while the session is over, because a dialog asks to sign in again. */
export function FailureState({ title, error, onRetry }: FailureProps) {
  if (isSignedOutError(error)) return null
  if (isApiError(error) && error.status === 404)
    return (
      <EmptyState title={words.common.missing}>
        <p>{words.common.missingText}</p>
      </EmptyState>
    )
  return (
    <div className={styles.state} role="alert">
      <Shape tone="error" />
      <strong>{title}</strong>
      <span>
        {isApiError(error) && <code>{error.code}</code>} {errorText(error)}
      </span>
      <div className={styles.actions}>
        <Button onClick={onRetry}>{words.common.tryAgain}</Button>
      </div>
    </div>
  )
}

/** Rows in the widths of the data that is being loaded. */
export function LoadingRows({ widths, rows = 8 }: { readonly widths: readonly number[]; readonly rows?: number }) {
  return (
    <div className={styles.loading} role="status">
      <span className={styles.announced}>{words.common.loading}</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className={styles.bones}>
          {widths.map((width, column) => (
            <span key={column} style={{ width }} />
          ))}
        </div>
      ))}
    </div>
  )
}

type BonesProps = {
  /** In pixels. */
  readonly height: number
}

/** In place of something of this height that is being loaded, so that nothing moves when it comes. */
export const Bones = ({ height }: BonesProps) => (
  <div className={styles.block} style={{ height }} role="status">
    <span className={styles.announced}>{words.common.loading}</span>
    <span className={styles.bone} />
  </div>
)
