import { useKeyNames, useProjectNames } from '../../api/names.ts'

type SelectProps = {
  /** Of the field around it. */
  readonly input: object
  readonly of: 'project' | 'key'
  /** The name of the choice that is none. */
  readonly none: string
  readonly value: string | undefined
  readonly onChange: (id: string | undefined) => void
}

/** Chooses a project or a key by its name. */
export function SubjectSelect({ input, of, none, value, onChange }: SelectProps) {
  const projects = useProjectNames()
  const keys = useKeyNames()
  const names = of === 'project' ? projects : keys
  return (
    <select {...input} value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)}>
      <option value="">{none}</option>
      {value !== undefined && !names.has(value) && <option value={value}>{value}</option>}
      {[...names].map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}
