import { useState, type SubmitEvent } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { errorOfField, useChange } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Field } from '../../kit/field.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { metrics } from './closest.ts'
import { overrideCommand, overridesPath, subjectOf, type OverrideScope } from './override.ts'
import { limitsKey, type LimitOverride } from './queries.ts'
import { SubjectSelect } from './subject-select.tsx'
import styles from './page.module.css'

const text = words.limits
const scopes = ['organization', 'project', 'key'] as const

type DialogProps = { readonly override: LimitOverride | undefined; readonly onClose: () => void }
type Values = { readonly [Metric in (typeof metrics)[number]]?: string }

/** Sets all limits of the organization, a project or a key at once. */
export function OverrideDialog({ override, onClose }: DialogProps) {
  const [scope, setScope] = useState<OverrideScope>(override?.scope ?? 'key')
  const [subjectId, setSubjectId] = useState<string | undefined>(override?.subject_id)
  const [values, setValues] = useState<Values>(() => textsOf(override))
  const limits = limitsOf(values)
  const subject = subjectOf(scope, subjectId ?? '')
  const body = { ...subject, limits }
  const change = useChange({
    send: () => dataOf(api.PUT(overridesPath, { body })),
    refresh: [limitsKey],
    onDone: onClose,
  })
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    change.mutate(undefined)
  }
  const fieldErrors = metrics.map((metric) => errorOfField(change.error, `limits.${metric}`))
  const isComplete = Object.keys(limits).length > 0 && (scope === 'organization' || subjectId !== undefined)
  return (
    <Dialog
      title={text.setTitle}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button type="submit" form="set-limits" look="primary" disabled={!isComplete || change.isPending}>
            {text.applyLimits}
          </Button>
        </>
      }
    >
      <form id="set-limits" className={styles.form} onSubmit={submit}>
        <div className={styles.pair}>
          <Field label={text.scope}>
            {(input) => (
              <select
                {...input}
                value={scope}
                disabled={override !== undefined}
                onChange={(event) => {
                  setScope(scopes.find((each) => each === event.target.value) ?? 'key')
                  setSubjectId(undefined)
                }}
              >
                {scopes.map((each) => (
                  <option key={each} value={each}>
                    {text.scopes[each]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {scope !== 'organization' && override === undefined && (
            <Field label={text.subject}>
              {(input) => (
                <SubjectSelect input={input} of={scope} none={text.choose} value={subjectId} onChange={setSubjectId} />
              )}
            </Field>
          )}
        </div>
        <p>
          {text.affects[scope]} {text.setText} {text.valueHint}
        </p>
        <div className={styles.pair}>
          {metrics.map((metric, at) => (
            <Field key={metric} label={text.metrics[metric]} error={fieldErrors[at]}>
              {(input) => (
                <input
                  {...input}
                  type="number"
                  min="0"
                  step="1"
                  value={values[metric] ?? ''}
                  onChange={(event) => setValues({ ...values, [metric]: event.target.value })}
                />
              )}
            </Field>
          ))}
        </div>
        {change.isError && fieldErrors.every((error) => error === undefined) && <ErrorNotice error={change.error} />}
        <CommandPreview
          call={{ method: 'PUT', path: overridesPath, body, command: overrideCommand(subject, limits) }}
        />
      </form>
    </Dialog>
  )
}

const textsOf = (override: LimitOverride | undefined): Values =>
  Object.fromEntries(
    metrics.flatMap((metric) => {
      const limit = override?.limits[metric]
      return limit === undefined ? [] : [[metric, String(limit)]]
    }),
  )

const limitsOf = (values: Values): LimitOverride['limits'] =>
  Object.fromEntries(metrics.flatMap((metric) => (values[metric] ? [[metric, Number(values[metric])]] : [])))
