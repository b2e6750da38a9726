import { errorText, isApiError } from '../api/error.ts'
import { words } from '../words/en.ts'
import { Field } from './field.tsx'

const text = words.gate
/** The API needs this many characters. */
const shortest = 10

/** Whether the publish gate has rejected a publication. */
export const isGateError = (error: unknown): boolean =>
  isApiError(error) && (error.code === 'gate_not_passed' || error.code === 'gate_stale')

/** What is missing. The message of the server names the run by its id, which says nothing here. */
export const gateErrorText = (error: unknown): string =>
  isApiError(error) && error.code === 'gate_stale' ? text.stale : errorText(error)

export const overrideOf = (typed: string): { readonly override?: { readonly reason: string } } =>
  typed.trim().length < shortest ? {} : { override: { reason: typed.trim() } }

type OverrideProps = { readonly reason: string; readonly onReason: (reason: string) => void }

/** The reason of a publication past the gate. */
export function OverrideField({ reason, onReason }: OverrideProps) {
  return (
    <Field label={text.override} hint={text.overrideHint}>
      {(input) => <input {...input} value={reason} maxLength={500} onChange={({ target }) => onReason(target.value)} />}
    </Field>
  )
}
