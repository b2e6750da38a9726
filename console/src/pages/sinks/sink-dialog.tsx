import { useId, useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { isApiError } from '../../api/error.ts'
import { errorOfField, useChange } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Field } from '../../kit/field.tsx'
import { ManagedNotice, ErrorNotice } from '../../kit/notice.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { nameOf } from './health.ts'
import { sinkKeys, useSinkKinds, type Sink } from './queries.ts'
import { SchemaForm } from './schema-fields.tsx'
import { changedFields, filledIn, hasInput, sendsCosts, valuesOf, type SinkKind, type Values } from './sink-schema.ts'
import styles from './sink-dialog.module.css'

const text = words.sinks
const path = '/api/policy-gateway/exports'

type CreateProps = {
  readonly type: string
  readonly onType: (type: string) => void
  readonly onClose: () => void
  readonly onCreated: (id: string) => void
}

/** A new sink: its kind, and the form of this kind. */
export function CreateSinkDialog({ type, onType, onClose, onCreated }: CreateProps) {
  const kinds = useSinkKinds()
  const kind = kinds.data?.find((each) => each.type === type)
  const [start, setStart] = useState<keyof typeof text.starts>('now')
  const formId = useId()
  const form = useSinkForm('', {})
  const config = kind ? valuesOf(filledIn(kind.config, form.values)) : {}
  const body = { type, label: form.label, config, ...(!sendsCosts(form.values) && { start }) }
  const change = useChange({
    send: () => dataOf(api.POST('/api/policy-gateway/exports', { body: body as never })),
    refresh: sinkKeys,
    onDone: ({ export: { id } }) => onCreated(id),
  })
  const choose = (chosen: string): void => {
    form.setValues({})
    change.reset()
    onType(chosen)
  }
  return (
    <Dialog
      title={text.create}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button look="primary" type="submit" form={formId} disabled={!kind || change.isPending}>
            {text.createKind(text.kinds[type] ?? type)}
          </Button>
        </>
      }
    >
      {kinds.isPending && <LoadingRows widths={[120, 200]} rows={4} />}
      {kinds.isError && (
        <FailureState title={text.schemaFailed} error={kinds.error} onRetry={() => void kinds.refetch()} />
      )}
      {kinds.data && (
        <form id={formId} className={styles.fields} onSubmit={submitting(() => change.mutate(undefined))}>
          <Field label={text.chooseKind} hint={kind?.description ?? ''} error={errorOfField(change.error, 'type')}>
            {(input) => (
              <select {...input} value={type} onChange={({ target }) => choose(target.value)}>
                {kinds.data.map((each) => (
                  <option key={each.type} value={each.type}>
                    {text.kinds[each.type] ?? each.type}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {kind && <SinkFields key={type} kind={kind} form={form} error={change.error} />}
          {!sendsCosts(form.values) && (
            <Field label={text.start} error={errorOfField(change.error, 'start')}>
              {(input) => (
                <select {...input} value={start} onChange={({ target }) => setStart(target.value as typeof start)}>
                  <option value="now">{text.starts.now}</option>
                  <option value="retained">{text.starts.retained}</option>
                </select>
              )}
            </Field>
          )}
          <CommandPreview call={{ method: 'POST', path, body, command: 'gatehouse sinks create -f sink.yaml' }} />
        </form>
      )}
    </Dialog>
  )
}

type EditProps = { readonly sink: Sink; readonly onClose: () => void }

/** The settings of a sink. Only what was changed is sent. */
export function EditSinkDialog({ sink, onClose }: EditProps) {
  const kinds = useSinkKinds()
  const kind = kinds.data?.find((each) => each.type === sink.type)
  const formId = useId()
  const form = useSinkForm(sink.label, sink.config)
  const config = kind
    ? changedFields(valuesOf(filledIn(kind.config, sink.config)), valuesOf(filledIn(kind.config, form.values)))
    : {}
  const body = {
    ...(form.label !== sink.label && { label: form.label }),
    ...(Object.keys(config).length > 0 && { config }),
  }
  const change = useChange({
    send: () => {
      const params = { path: { export_id: sink.id } }
      return dataOf(api.PATCH('/api/policy-gateway/exports/{export_id}', { params, body }))
    },
    refresh: sinkKeys,
    onDone: onClose,
  })
  return (
    <Dialog
      title={text.editTitle(nameOf(sink))}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button
            look="primary"
            type="submit"
            form={formId}
            disabled={Object.keys(body).length === 0 || change.isPending}
          >
            {text.saveChanges}
          </Button>
        </>
      }
    >
      {kinds.isPending && <LoadingRows widths={[120, 200]} rows={4} />}
      {kinds.isError && (
        <FailureState title={text.schemaFailed} error={kinds.error} onRetry={() => void kinds.refetch()} />
      )}
      {kind && (
        <form id={formId} className={styles.fields} onSubmit={submitting(() => change.mutate(undefined))}>
          <ManagedNotice owner={sink.managed_by} />
          <p className={styles.note}>{text.editNote}</p>
          <SinkFields kind={kind} form={form} error={change.error} />
          <CommandPreview
            call={{
              method: 'PATCH',
              path: `${path}/${sink.id}`,
              body,
              command: `gatehouse sinks update ${sink.id} -f sink.yaml`,
            }}
          />
        </form>
      )}
    </Dialog>
  )
}

function useSinkForm(savedLabel: string, saved: Values) {
  const [label, setLabel] = useState(savedLabel)
  const [values, setValues] = useState<Values>(saved)
  return { label, setLabel, values, setValues }
}

type SinkFieldsProps = {
  readonly kind: SinkKind
  readonly form: ReturnType<typeof useSinkForm>
  readonly error: unknown
}

function SinkFields({ kind, form, error }: SinkFieldsProps) {
  const { label, setLabel, values, setValues } = form
  return (
    <>
      <Field label={text.label} hint={text.labelHint} error={errorOfField(error, 'label')}>
        {(input) => (
          <input {...input} value={label} autoComplete="off" onChange={({ target }) => setLabel(target.value)} />
        )}
      </Field>
      <SchemaForm schema={kind.config} values={values} onChange={setValues} error={error} />
      {error !== null && !hasPlace(kind, values, error) && <ErrorNotice error={error} />}
    </>
  )
}

/** Whether an input of the form shows the error. */
function hasPlace({ config }: SinkKind, values: Values, error: unknown): boolean {
  const [start, ...field] = (isApiError(error) ? (error.param ?? '') : '').replace(/\[.*$/, '').split('.')
  if (start === 'config') return field.length > 0 && hasInput(config, field, values)
  return start === 'label' || start === 'type' || start === 'start'
}

const submitting = (submit: () => void) => (event: { preventDefault(): void }) => {
  event.preventDefault()
  submit()
}
