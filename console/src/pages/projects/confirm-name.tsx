import { Field } from '../../kit/field.tsx'
import { words } from '../../words/en.ts'

type ConfirmProps = { readonly name: string; readonly onChange: (isConfirmed: boolean) => void }

/** Asks for the name of what is about to be destroyed. */
export function ConfirmName({ name, onChange }: ConfirmProps) {
  return (
    <Field label={words.projects.typeName(name)}>
      {(props) => (
        <input
          {...props}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onChange(event.target.value.trim() === name.trim())}
        />
      )}
    </Field>
  )
}
