import { errorOfField } from '../../api/use-change.ts'
import { Field } from '../../kit/field.tsx'
import { count } from '../../kit/format.ts'
import { Segmented } from '../../kit/segmented.tsx'
import { words } from '../../words/en.ts'
import type { Appeal, Policy } from './queries.ts'
import { movedThreshold, type DraftForm } from './resolution.ts'
import styles from './page.module.css'

const text = words.reviews

type PartProps = {
  readonly appeal: Appeal
  /** Undefined while it is loaded. */
  readonly policy: Policy | undefined
  /** Undefined: the draft stays as it is. */
  readonly form: DraftForm | undefined
  readonly error: unknown
  readonly onChange: (form: DraftForm | undefined) => void
}

/** Changes the draft, so that the next version decides texts like this one otherwise. */
export function DraftPart({ appeal, policy, form, error, onChange }: PartProps) {
  const moved = movedThreshold(appeal)
  const start = (): DraftForm => ({
    way: moved === undefined ? 'rule' : 'threshold',
    threshold: String(moved ?? ''),
    rule: policy?.draft.rule ?? '',
  })
  return (
    <>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={form !== undefined}
          disabled={policy === undefined}
          onChange={(event) => onChange(event.currentTarget.checked ? start() : undefined)}
        />
        {text.changeDraft}
      </label>
      {form && (
        <div className={styles.made}>
          {moved === undefined ? (
            <span className={styles.faint}>{text.noThreshold}</span>
          ) : (
            <Segmented
              label={words.request.fix.way}
              options={['threshold', 'rule']}
              nameOf={(way) => text.draftWays[way]}
              value={form.way}
              onChange={(way) => onChange({ ...form, way })}
            />
          )}
          {form.way === 'threshold' ? (
            <ThresholdField {...{ appeal, form, error, onChange }} />
          ) : (
            <RuleField {...{ form, error, onChange }} />
          )}
        </div>
      )}
    </>
  )
}

type FieldProps = {
  readonly form: DraftForm
  readonly error: unknown
  readonly onChange: (form: DraftForm) => void
}

const ThresholdField = ({ appeal, form, error, onChange }: FieldProps & { readonly appeal: Appeal }) => (
  <Field
    label={text.threshold}
    hint={text.thresholdHint(count(appeal.decision?.score_bp))}
    error={errorOfField(error, 'draft.match_threshold_basis_points')}
  >
    {(props) => (
      <input
        {...props}
        inputMode="numeric"
        value={form.threshold}
        onChange={({ target }) => onChange({ ...form, threshold: target.value.replace(/\D/g, '').slice(0, 4) })}
      />
    )}
  </Field>
)

const RuleField = ({ form, error, onChange }: FieldProps) => (
  <Field
    label={text.newRule}
    hint={words.request.fix.ruleHint}
    error={errorOfField(error, 'draft.rule') ?? errorOfField(error, 'rule')}
  >
    {({ className, ...props }) => (
      <textarea
        {...props}
        className={`${className ?? ''} ${styles.newRule}`}
        rows={3}
        value={form.rule}
        onChange={({ target }) => onChange({ ...form, rule: target.value })}
      />
    )}
  </Field>
)
