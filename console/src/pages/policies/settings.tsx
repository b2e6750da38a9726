import { useProjectNames } from '../../api/names.ts'
import { errorOfField } from '../../api/use-change.ts'
import { useMe } from '../../session/session.tsx'
import { Card } from '../../kit/card.tsx'
import { Field } from '../../kit/field.tsx'
import { Slider } from '../../kit/slider.tsx'
import { words } from '../../words/en.ts'
import { defaultThreshold, type PolicyForm } from './content.ts'
import { policyScopes } from './search.ts'
import styles from './settings.module.css'

const text = words.policy

type SettingsProps = {
  readonly form: PolicyForm
  readonly error: unknown
  readonly isReadOnly: boolean
  readonly onChange: (changed: Partial<PolicyForm>) => void
}

/** Everything of a policy but its rule. */
export function Settings({ form, error, isReadOnly, onChange }: SettingsProps) {
  const { features } = useMe()
  const hasJudge = features.judge && !form.rule.trimStart().startsWith('cel:')
  return (
    <Card title={text.settings}>
      <fieldset className={styles.fields} disabled={isReadOnly}>
        <div className={styles.whole}>
          <Field label={text.name} hint={text.nameHint} error={errorOfField(error, 'name')}>
            {(props) => (
              <input {...props} value={form.name} onChange={(event) => onChange({ name: event.target.value })} />
            )}
          </Field>
        </div>
        <Choice
          label={text.mode}
          value={form.mode}
          options={[
            ['monitoring', text.modes.monitoring],
            ['enforcing', text.modes.enforcing],
          ]}
          onChange={(mode) => onChange({ mode })}
        />
        <Choice
          label={text.direction}
          value={form.direction}
          options={[
            ['both', text.directions.both],
            ['request', text.directions.request],
            ['response', text.directions.response],
          ]}
          onChange={(direction) => onChange({ direction })}
        />
        <Choice
          label={text.scope}
          value={form.scope}
          options={policyScopes.map((scope) => [scope, words.policies.scopes[scope]] as const)}
          onChange={(scope) => onChange({ scope })}
        />
        {hasJudge && (
          <Choice
            label={text.window}
            value={form.judge_window}
            options={[
              ['block', text.windows.block],
              ['paragraph', text.windows.paragraph],
            ]}
            onChange={(window) => onChange({ judge_window: window })}
          />
        )}
        <div className={hasJudge ? styles.whole : undefined}>
          <Threshold form={form} error={errorOfField(error, 'match_threshold_basis_points')} onChange={onChange} />
        </div>
        <label className={`${styles.project} ${styles.whole}`}>
          <input
            type="checkbox"
            checked={form.pause_on_spike}
            onChange={({ target }) => onChange({ pause_on_spike: target.checked })}
          />
          {text.pauseOnSpike}
        </label>
        {form.scope === 'projects' && (
          <Projects form={form} error={errorOfField(error, 'project_ids')} onChange={onChange} />
        )}
      </fieldset>
    </Card>
  )
}

type ChoiceProps<Value extends string> = {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [value: Value, name: string])[]
  readonly onChange: (value: Value) => void
}

function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <Field label={label}>
      {(props) => (
        <select {...props} value={value} onChange={(event) => onChange(event.target.value as Value)}>
          {options.map(([option, name]) => (
            <option key={option} value={option}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

type PartProps = Pick<SettingsProps, 'form' | 'onChange'> & { readonly error: string | undefined }

function Threshold({ form, error, onChange }: PartProps) {
  const threshold = form.match_threshold_basis_points ?? defaultThreshold
  const set = (value: string): void => onChange({ match_threshold_basis_points: value === '' ? null : Number(value) })
  return (
    <Field label={text.threshold} hint={text.thresholdHint(threshold)} error={error}>
      {({ id, className, ...props }) => (
        <span className={styles.threshold}>
          <Slider
            aria-label={text.threshold}
            min={1}
            max={9_999}
            value={threshold}
            onChange={(value) => onChange({ match_threshold_basis_points: value })}
          />
          <input
            {...props}
            id={id}
            className={className}
            type="number"
            min={1}
            max={9_999}
            placeholder={String(defaultThreshold)}
            value={form.match_threshold_basis_points ?? ''}
            onChange={(event) => set(event.target.value)}
          />
        </span>
      )}
    </Field>
  )
}

function Projects({ form, error, onChange }: PartProps) {
  const names = useProjectNames()
  const chosen = new Set(form.project_ids)
  const ids = [...new Set([...names.keys(), ...form.project_ids])]
  const toggle = (id: string, isOn: boolean): void =>
    onChange({ project_ids: isOn ? [...form.project_ids, id] : form.project_ids.filter((each) => each !== id) })
  return (
    <div className={styles.whole} role="group" aria-label={text.projects}>
      <span className={styles.legend}>{text.projects}</span>
      {ids.length === 0 && <p>{text.noProjects}</p>}
      {ids.map((id) => (
        <label key={id} className={styles.project} title={id}>
          <input type="checkbox" checked={chosen.has(id)} onChange={(event) => toggle(id, event.target.checked)} />
          {names.get(id) ?? id}
        </label>
      ))}
      {error !== undefined && (
        <p role="alert" className={styles.error}>
          {error}
        </p>
      )}
    </div>
  )
}
