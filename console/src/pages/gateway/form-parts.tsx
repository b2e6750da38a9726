import type { ReactNode } from 'react'
import { Field } from '../../kit/field.tsx'
import { linesOf } from './draft.ts'
import type { GatewayConfig } from './queries.ts'
import styles from './config-form.module.css'

export type FormProps = {
  readonly config: GatewayConfig
  readonly onChange: (config: GatewayConfig) => void
  /** Of the last save or simulation. */
  readonly error: unknown
}

type LinesProps = {
  readonly label: string
  readonly hint: string
  readonly error?: string | undefined
  readonly lines: readonly string[]
  readonly onChange: (lines: string[]) => void
}

/** A list of which each line is one item. */
export const Lines = ({ label, hint, error, lines, onChange }: LinesProps) => (
  <Field label={label} hint={hint} error={error}>
    {({ className = '', ...input }) => (
      <textarea
        {...input}
        className={`${className} ${styles.lines}`}
        rows={Math.min(10, Math.max(3, lines.length + 1))}
        spellCheck={false}
        value={lines.join('\n')}
        onChange={({ target }) => onChange(linesOf(target.value))}
      />
    )}
  </Field>
)

type CheckProps = { readonly isOn: boolean; readonly onChange: (isOn: boolean) => void; readonly children: ReactNode }

export const Check = ({ isOn, onChange, children }: CheckProps) => (
  <label className={styles.check}>
    <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} />
    {children}
  </label>
)
