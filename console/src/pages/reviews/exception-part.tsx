import { errorOfField } from '../../api/use-change.ts'
import { Field } from '../../kit/field.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { nameOr } from '../../kit/short-id.tsx'
import { useMay } from '../../session/session.tsx'
import { useSubjectNames } from '../../session/subject-names.ts'
import { words } from '../../words/en.ts'
import { useAppealedRequest, type Appeal, type AppealedRequest } from './queries.ts'
import { isDayCount, subjectsOf, type ExceptionForm, type ExceptionSubject } from './resolution.ts'
import styles from './page.module.css'

const text = words.reviews

type PartProps = {
  readonly appeal: Appeal
  /** Undefined: no exception is made. */
  readonly form: ExceptionForm | undefined
  readonly error: unknown
  readonly onChange: (form: ExceptionForm | undefined) => void
}

/** Lets further requests like the appealed one through until a date, while the rule is being changed. */
export function ExceptionPart({ appeal, form, error, onChange }: PartProps) {
  const mayReadTexts = useMay('content:read')
  const request = useAppealedRequest(appeal.request_id, useMay('audit:read')).data
  const hasText = appeal.is_text_kept === true && appeal.direction === 'request' && mayReadTexts
  const subjects = subjectsOf(request, hasText)
  const [first = 'key'] = subjects
  return (
    <>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={form !== undefined}
          onChange={(event) => onChange(event.currentTarget.checked ? { of: first, reason: '', days: '7' } : undefined)}
        />
        {text.makeException}
      </label>
      {form && (
        <div className={styles.made}>
          <Subject {...{ form, subjects, request, onChange }} />
          {errorOfField(error, 'exception.for') && <p role="alert">{errorOfField(error, 'exception.for')}</p>}
          <Field
            label={text.exceptionReason}
            hint={words.exceptions.reasonHint}
            error={errorOfField(error, 'exception.reason')}
          >
            {(props) => (
              <input
                {...props}
                value={form.reason}
                maxLength={500}
                onChange={({ target }) => onChange({ ...form, reason: target.value })}
              />
            )}
          </Field>
          <Field
            label={words.exceptions.days}
            hint={words.exceptions.daysHint}
            error={isDayCount(form.days) ? errorOfField(error, 'exception.expires_at') : words.exceptions.daysHint}
          >
            {(props) => (
              <input
                {...props}
                inputMode="numeric"
                value={form.days}
                onChange={({ target }) => onChange({ ...form, days: target.value })}
              />
            )}
          </Field>
        </div>
      )}
    </>
  )
}

type SubjectProps = {
  readonly form: ExceptionForm
  readonly subjects: readonly ExceptionSubject[]
  readonly request: AppealedRequest | undefined
  readonly onChange: (form: ExceptionForm) => void
}

function Subject({ form, subjects, request, onChange }: SubjectProps) {
  const { keys, projects } = useSubjectNames()
  const { user_id: user, api_key_id: key, project_id: project } = request ?? {}
  const names = {
    user,
    key: key && nameOr(keys, key),
    project: project && nameOr(projects, project),
    text: undefined,
  }
  return (
    <>
      <Segmented
        label={words.exceptions.covers}
        options={subjects}
        nameOf={(of) => text.exceptionFor[of]}
        value={form.of}
        onChange={(of) => onChange({ ...form, of })}
      />
      <span className={styles.faint}>{text.exceptionCovers[form.of](names[form.of] ?? undefined)}</span>
    </>
  )
}
