import type { ReactNode } from 'react'
import { Field } from './field.tsx'

type ChoiceProps<Value extends string> = {
  readonly label: string
  readonly hint?: string
  readonly error?: string | undefined
  readonly options: readonly Value[]
  readonly nameOf: (option: Value) => string
  readonly value: Value
  readonly onChange: (value: Value) => void
}

/** One of a list of values. */
export function Choice<Value extends string>(choice: ChoiceProps<Value>): ReactNode {
  const { label, hint, error, options, nameOf, value, onChange } = choice
  return (
    <Field label={label} {...(hint !== undefined && { hint })} error={error}>
      {(props) => (
        <select
          {...props}
          value={value}
          onChange={(event) => onChange(options.find((option) => option === event.target.value) ?? value)}
        >
          {options.map((option) => (
            <option key={option} value={option}>
              {nameOf(option)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
