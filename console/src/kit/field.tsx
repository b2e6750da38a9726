import { useId, type ReactNode } from 'react'
import { Shape } from './badge.tsx'
import styles from './field.module.css'

type InputProps = {
  readonly id: string
  readonly className: string | undefined
  readonly 'aria-describedby': string
  readonly 'aria-invalid': boolean
}

type FieldProps = {
  readonly label: string
  readonly hint?: string
  /** Takes the place of the hint. */
  readonly error?: string | undefined
  readonly children: (props: InputProps) => ReactNode
}

/** A label, an input and a hint or an error. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId()
  const noteId = useId()
  const isInvalid = error !== undefined
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, className: styles.input, 'aria-describedby': noteId, 'aria-invalid': isInvalid })}
      <span id={noteId} className={isInvalid ? styles.error : styles.hint} role={isInvalid ? 'alert' : undefined}>
        {isInvalid && <Shape tone="deny" />}
        {error ?? hint}
      </span>
    </div>
  )
}
