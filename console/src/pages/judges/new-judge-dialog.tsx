import { useState } from 'react'
import { useModelNames } from '../../api/names.ts'
import { errorOfField } from '../../api/use-change.ts'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { quoted } from '../../kit/command.ts'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { words } from '../../words/en.ts'
import { useCreateJudge } from './queries.ts'

const text = words.judges

type DialogProps = { readonly onCreated: (id: string) => void; readonly onClose: () => void }

/** Creates a judge with the built-in prompt. */
export function NewJudgeDialog({ onCreated, onClose }: DialogProps) {
  const models = useModelNames()
  const [form, setForm] = useState({ name: '', model: '', timeout_ms: 5_000, max_usd_per_day: 10 })
  const change = useCreateJudge(({ id }) => onCreated(id))
  const body = { ...form, model: form.model === '' ? (models[0] ?? '') : form.model }
  const set = (changed: Partial<typeof form>): void => setForm({ ...form, ...changed })
  return (
    <FormDialog
      title={text.addTitle}
      action={text.create}
      change={change}
      fields={['name', 'model', 'timeout_ms', 'max_usd_per_day']}
      isDisabled={form.name.trim() === '' || body.model === ''}
      onSubmit={() => change.mutate(body)}
      onClose={onClose}
    >
      <Field label={text.name} error={errorOfField(change.error, 'name')}>
        {(input) => <input {...input} value={form.name} onChange={({ target }) => set({ name: target.value })} />}
      </Field>
      <Field label={text.model} error={errorOfField(change.error, 'model')}>
        {(input) => (
          <select {...input} value={body.model} onChange={({ target }) => set({ model: target.value })}>
            {models.map((model) => (
              <option key={model} value={model}>
                {model}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={text.timeout} error={errorOfField(change.error, 'timeout_ms')}>
        {(input) => (
          <input
            {...input}
            type="number"
            min={1}
            max={120_000}
            required
            value={form.timeout_ms}
            onChange={({ target }) => set({ timeout_ms: Number(target.value) })}
          />
        )}
      </Field>
      <Field label={text.budget} error={errorOfField(change.error, 'max_usd_per_day')}>
        {(input) => (
          <input
            {...input}
            type="number"
            min={0}
            step={0.01}
            required
            value={form.max_usd_per_day}
            onChange={({ target }) => set({ max_usd_per_day: Number(target.value) })}
          />
        )}
      </Field>
      <CommandPreview
        call={{
          method: 'POST',
          path: '/v1/organization/judges',
          body,
          command: `gatehouse judges add --name ${quoted(body.name)} --model ${quoted(body.model)} --timeout-ms ${body.timeout_ms} --max-usd-per-day ${body.max_usd_per_day}`,
        }}
      />
    </FormDialog>
  )
}
