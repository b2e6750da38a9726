import { Field } from '../../kit/field.tsx'

type SelectProps = {
  readonly label: string
  readonly value: string
  /** Undefined if the key may not list them; then the value is typed. */
  readonly options: readonly (readonly [value: string, name: string])[] | undefined
  readonly onChange: (value: string) => void
}

/** One of a list. A value of the address that is not in the list stays selected. */
export function Select({ label, value, options, onChange }: SelectProps) {
  const isListed = options?.some(([each]) => each === value) === true
  return (
    <Field label={label}>
      {(props) =>
        options === undefined || options.length === 0 ? (
          <input {...props} value={value} spellCheck={false} onChange={({ target }) => onChange(target.value)} />
        ) : (
          <select {...props} value={value} onChange={({ target }) => onChange(target.value)}>
            {!isListed && <option value={value}>{value}</option>}
            {options.map(([each, name]) => (
              <option key={each} value={each}>
                {name}
              </option>
            ))}
          </select>
        )
      }
    </Field>
  )
}
