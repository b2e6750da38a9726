import { quoted } from '../../kit/command.ts'
import { Field } from '../../kit/field.tsx'
import { words } from '../../words/en.ts'

const text = words.policy

type ReasonProps = { readonly value: string; readonly onChange: (value: string) => void }

/** Why a version is published. */
export const ReasonField = ({ value, onChange }: ReasonProps) => (
  <Field label={text.reason} hint={text.reasonHint}>
    {(input) => <input {...input} value={value} maxLength={500} onChange={(event) => onChange(event.target.value)} />}
  </Field>
)

export const reasonOf = (typed: string): { readonly reason?: string } =>
  typed.trim() === '' ? {} : { reason: typed.trim() }

/** The same for the command line. */
export const reasonOption = (typed: string): string => (typed.trim() === '' ? '' : ` --reason ${quoted(typed.trim())}`)
