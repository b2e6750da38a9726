import { useState, type SelectHTMLAttributes } from 'react'
import { mostNames, type Names } from '../api/names.ts'
import type { components } from '../api/schema.d.ts'
import { errorOfField } from '../api/use-change.ts'
import { words } from '../words/en.ts'
import { CommandPreview } from './command-preview.tsx'
import { Field } from './field.tsx'
import { FormDialog } from './form-dialog.tsx'
import { Segmented } from './segmented.tsx'

export type ExceptionCreate = components['schemas']['PolicyExceptionCreate']

const text = words.exceptions

/** What a person can choose. The digests of texts are for programs. */
const kinds = ['user', 'project_id', 'key_id', 'text', 'event_id'] as const
export type SubjectKind = (typeof kinds)[number]

export type KnownSubjects = { readonly [Kind in SubjectKind]?: string | null | undefined }

type DialogProps = {
  readonly policyId: string
  readonly policyName: string
  /** Values to start with; those of a request, for example. */
  readonly known?: KnownSubjects
  readonly subjects: { readonly projects: Names; readonly keys: Names }
  readonly create: {
    readonly isPending: boolean
    readonly error: unknown
    readonly mutate: (body: ExceptionCreate) => void
  }
  readonly onClose: () => void
}

/** The names that a list can show; undefined if they are not known, or perhaps not all of them. Then an id is typed. */
const chosenFrom = (names: Names): Names | undefined => (names.size > 0 && names.size < mostNames ? names : undefined)

const dayMs = 86_400_000
const maxDays = 30

/** Whom a policy is not enforced for, why, and until when. */
export function ExceptionDialog({ policyId, policyName, known = {}, subjects, create, onClose }: DialogProps) {
  const offered = kinds.filter((kind) => kind !== 'event_id' || known.event_id)
  const [kind, setKind] = useState<SubjectKind>(known.user ? 'user' : (offered.find((one) => known[one]) ?? 'user'))
  const [values, setValues] = useState<KnownSubjects>(known)
  const [reason, setReason] = useState('')
  const [days, setDays] = useState('7')
  const value = values[kind] ?? ''
  const named = { project_id: subjects.projects, key_id: subjects.keys }
  const names = kind === 'project_id' || kind === 'key_id' ? chosenFrom(named[kind]) : undefined
  const body: ExceptionCreate = {
    for: { [kind]: value },
    reason,
    expires_at: Math.floor((Date.now() + Number(days) * dayMs) / 1_000),
  }
  return (
    <FormDialog
      title={text.addTitle(policyName)}
      action={text.add}
      change={create}
      fields={['for', 'reason', 'expires_at']}
      isDisabled={value.trim() === '' || reason.trim() === ''}
      onSubmit={() => create.mutate(body)}
      onClose={onClose}
    >
      <p>{text.effect}</p>
      <Segmented
        label={text.covers}
        options={offered}
        nameOf={(each) => text.kinds[each]}
        value={kind}
        onChange={setKind}
      />
      <Field
        label={text.kinds[kind]}
        hint={names === undefined ? text.hints[kind] : text.namedHint}
        error={errorOfField(create.error, 'for')}
      >
        {(props) =>
          names === undefined ? (
            <input
              {...props}
              readOnly={kind === 'event_id'}
              value={value}
              onChange={(event) => setValues({ ...values, [kind]: event.target.value })}
            />
          ) : (
            <NameSelect
              {...props}
              names={names}
              value={value}
              onChange={(event) => setValues({ ...values, [kind]: event.target.value })}
            />
          )
        }
      </Field>
      <Field label={text.reason} hint={text.reasonHint} error={errorOfField(create.error, 'reason')}>
        {(props) => (
          <input {...props} maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
        )}
      </Field>
      <Field label={text.days} hint={text.daysHint} error={errorOfField(create.error, 'expires_at')}>
        {(props) => (
          <input
            {...props}
            type="number"
            min={1}
            max={maxDays}
            required
            value={days}
            onChange={(event) => setDays(event.target.value)}
          />
        )}
      </Field>
      <CommandPreview call={{ method: 'POST', path: `/v1/organization/policies/${policyId}/exceptions`, body }} />
    </FormDialog>
  )
}

type NameSelectProps = SelectHTMLAttributes<HTMLSelectElement> & { readonly names: Names; readonly value: string }

/** One of the objects by its name. One without a name here stays as it is. */
const NameSelect = ({ names, ...props }: NameSelectProps) => (
  <select {...props}>
    <option value="">{text.choose}</option>
    {props.value !== '' && !names.has(props.value) && <option value={props.value}>{props.value}</option>}
    {[...names].map(([id, name]) => (
      <option key={id} value={id}>
        {name}
      </option>
    ))}
  </select>
)
