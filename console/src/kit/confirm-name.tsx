import { words } from '../words/en.ts'
import { Field } from './field.tsx'

type ConfirmProps = { readonly name: string; readonly onChange: (isConfirmed: boolean) => void }

/** Asks for the name of what is about to be destroyed. */
export function ConfirmName({ name, onChange }: ConfirmProps) {
  return (
    <Field label={words.common.typeName(name)}>
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
