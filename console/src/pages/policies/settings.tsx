import type { ReactNode } from 'react'
import { useProjectNames } from '../../api/names.ts'
import { errorOfField } from '../../api/use-change.ts'
import { useMe } from '../../session/session.tsx'
import { Card } from '../../kit/card.tsx'
import { Field } from '../../kit/field.tsx'
import { Slider } from '../../kit/slider.tsx'
import { words } from '../../words/en.ts'
import { defaultThreshold, type PolicyForm } from './content.ts'
import styles from './settings.module.css'

const text = words.policy

type ControlProps = {
  readonly form: PolicyForm
  readonly error: unknown
  readonly onChange: (changed: Partial<PolicyForm>) => void
}

type Control = (props: ControlProps) => ReactNode

/** The control of each field but the rule, in this order. A field of the API without an entry does not compile. */
const controls: Readonly<Record<Exclude<keyof PolicyForm, 'rule'>, Control>> = {
  name: Name,
  description: Description,
  mode: ({ form, onChange }) => (
    <Choice label={text.mode} value={form.mode} names={text.modes} onChange={(mode) => onChange({ mode })} />
  ),
  direction: ({ form, onChange }) => (
    <Choice
      label={text.direction}
      value={form.direction}
      names={text.directions}
      onChange={(direction) => onChange({ direction })}
    />
  ),
  scope: ({ form, onChange }) => (
    <Choice
      label={text.scope}
      value={form.scope}
      names={words.policies.scopes}
      onChange={(scope) => onChange({ scope })}
    />
  ),
  judge_window: JudgeWindow,
  match_threshold_basis_points: Threshold,
  judge_when: JudgeWhen,
  pause_on_spike: PauseOnSpike,
  project_ids: Projects,
}

/** Everything of a policy but its rule. */
export function Settings({ isReadOnly, ...props }: ControlProps & { readonly isReadOnly: boolean }) {
  return (
    <Card title={text.settings}>
      <fieldset className={styles.fields} disabled={isReadOnly}>
        {Object.entries(controls).map(([field, FieldControl]) => (
          <FieldControl key={field} {...props} />
        ))}
      </fieldset>
    </Card>
  )
}

type ChoiceProps<Value extends string> = {
  readonly label: string
  readonly value: Value
  /** In the order of the menu. A value of the API without a name does not compile. */
  readonly names: Readonly<Record<Value, string>>
  readonly onChange: (value: Value) => void
}

function Choice<Value extends string>({ label, value, names, onChange }: ChoiceProps<Value>) {
  return (
    <Field label={label}>
      {(props) => (
        <select {...props} value={value} onChange={(event) => onChange(event.target.value as Value)}>
          {Object.entries<string>(names).map(([option, name]) => (
            <option key={option} value={option}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

function Name({ form, error, onChange }: ControlProps) {
  return (
    <div className={styles.whole}>
      <Field label={text.name} hint={text.nameHint} error={errorOfField(error, 'name')}>
        {(props) => <input {...props} value={form.name} onChange={(event) => onChange({ name: event.target.value })} />}
      </Field>
    </div>
  )
}

function Description({ form, error, onChange }: ControlProps) {
  return (
    <div className={styles.whole}>
      <Field label={text.description} hint={text.nameHint} error={errorOfField(error, 'description')}>
        {(props) => (
          <input
            {...props}
            value={form.description}
            onChange={(event) => onChange({ description: event.target.value })}
          />
        )}
      </Field>
    </div>
  )
}

/** Only rules in plain language are evaluated by a judge. */
function useHasJudge({ rule }: PolicyForm): boolean {
  const { features } = useMe()
  return features.judge && !rule.trimStart().startsWith('cel:')
}

function JudgeWindow({ form, onChange }: ControlProps) {
  const hasJudge = useHasJudge(form)
  return hasJudge ? (
    <Choice
      label={text.window}
      value={form.judge_window}
      names={text.windows}
      onChange={(window) => onChange({ judge_window: window })}
    />
  ) : null
}

function JudgeWhen({ form, error, onChange }: ControlProps) {
  const hasJudge = useHasJudge(form)
  if (!hasJudge && form.judge_when === '') return null
  return (
    <div className={styles.whole}>
      <Field label={text.judgeWhen} hint={text.judgeWhenHint} error={errorOfField(error, 'judge_when')}>
        {(props) => (
          <input
            {...props}
            spellCheck={false}
            value={form.judge_when}
            onChange={(event) => onChange({ judge_when: event.target.value })}
          />
        )}
      </Field>
    </div>
  )
}

function PauseOnSpike({ form, onChange }: ControlProps) {
  return (
    <label className={`${styles.project} ${styles.whole}`}>
      <input
        type="checkbox"
        checked={form.pause_on_spike}
        onChange={({ target }) => onChange({ pause_on_spike: target.checked })}
      />
      {text.pauseOnSpike}
    </label>
  )
}

function Threshold({ form, error, onChange }: ControlProps) {
  const hasJudge = useHasJudge(form)
  const threshold = form.match_threshold_basis_points ?? defaultThreshold
  const set = (value: string): void => onChange({ match_threshold_basis_points: value === '' ? null : Number(value) })
  return (
    <div className={hasJudge ? styles.whole : undefined}>
      <Field
        label={text.threshold}
        hint={text.thresholdHint(threshold)}
        error={errorOfField(error, 'match_threshold_basis_points')}
      >
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
    </div>
  )
}

function Projects({ form, error, onChange }: ControlProps) {
  const names = useProjectNames()
  if (form.scope !== 'projects') return null
  const problem = errorOfField(error, 'project_ids')
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
      {problem !== undefined && (
        <p role="alert" className={styles.error}>
          {problem}
        </p>
      )}
    </div>
  )
}
