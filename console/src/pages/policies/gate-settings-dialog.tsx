import { useState } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { words } from '../../words/en.ts'
import { fieldsOf, gateChanges, sectionNames, type GateFields, type GateSection } from './gate-settings.ts'
import { useGate, useSaveGate, type PublishGate } from './gate-queries.ts'
import styles from './gate-settings-dialog.module.css'

const text = words.gate
const levels = ['off', 'warn', 'require'] as const

type DialogProps = {
  /** Undefined: the gate of the organization. */
  readonly policyId: string | undefined
  readonly gate: PublishGate
  readonly onClose: () => void
}

/** Changes what stands between drafts and their publication. */
export function GateSettingsDialog({ policyId, gate, onClose }: DialogProps) {
  const [form, setForm] = useState<PublishGate['effective']>(gate.effective)
  const save = useSaveGate(policyId, onClose)
  const organization = useGate(undefined)
  const body = {
    revision: gate.revision,
    ...(policyId === undefined ? form : gateChanges(organization.data?.effective, form)),
  }
  const path =
    policyId === undefined ? '/v1/organization/publish_gate' : `/v1/organization/policies/${policyId}/publish_gate`
  const set = (section: GateSection, changed: object): void =>
    setForm({ ...form, [section]: { ...form[section], ...changed } })
  return (
    <FormDialog
      title={policyId === undefined ? text.ofOrganizationTitle : text.ofPolicyTitle}
      action={words.common.save}
      change={save}
      fields={sectionNames}
      isDisabled={organization.data === undefined}
      onSubmit={() => save.mutate(body)}
      onClose={onClose}
    >
      {policyId !== undefined && <p className={styles.hint}>{text.tightenHint}</p>}
      {sectionNames.map((section) => (
        <fieldset key={section} className={styles.section}>
          <legend>{text.sections[section]}</legend>
          <p className={styles.hint}>{text.sectionHints[section]}</p>
          <Segmented
            label={text.sections[section]}
            options={levels}
            nameOf={(level) => text.levels[level]}
            value={form[section].level}
            onChange={(level) => set(section, { level })}
          />
          {form[section].level !== 'off' && (
            <div className={styles.fields}>
              {fieldsOf(form[section]).map((field) => (
                <NumberField
                  key={field}
                  field={field}
                  value={(form[section] as GateFields)[field]}
                  error={errorOfField(save.error, `${section}.${field}`)}
                  onChange={(value) => set(section, { [field]: value })}
                />
              ))}
            </div>
          )}
        </fieldset>
      ))}
      <CommandPreview call={{ method: 'PUT', path, body }} />
    </FormDialog>
  )
}

type NumberProps = {
  readonly field: keyof GateFields
  readonly value: number | null | undefined
  readonly error: string | undefined
  readonly onChange: (value: number | null) => void
}

/** Shares are typed in percent and kept in basis points. An empty share limits nothing. */
function NumberField({ field, value, error, onChange }: NumberProps) {
  const isShare = field.endsWith('_bp')
  const scale = isShare ? 100 : 1
  const mayBeEmpty = isShare && field !== 'max_match_bp'
  return (
    <Field label={text.fields[field]} error={error}>
      {(input) => (
        <input
          {...input}
          type="number"
          min={isShare ? 0 : 1}
          step={isShare ? 0.01 : 1}
          required={!mayBeEmpty}
          placeholder={mayBeEmpty ? text.noLimit : undefined}
          value={typeof value === 'number' ? value / scale : ''}
          onChange={({ target }) => onChange(target.value === '' ? null : Math.round(Number(target.value) * scale))}
        />
      )}
    </Field>
  )
}
