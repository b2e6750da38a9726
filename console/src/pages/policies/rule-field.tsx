import { lazy, Suspense } from 'react'
import { Shape } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { words } from '../../words/en.ts'
import { useRuleCheck, type RuleCheck } from './queries.ts'
import { useDebounced } from '../../kit/use-debounced.ts'
import type { EditorProps } from './editor/rule-editor.tsx'
import styles from './rule-field.module.css'

const text = words.policy

/** Loaded when it is shown, because the editor is half as large as the rest of the console. */
const RuleEditor = lazy(async () => ({ default: (await import('./editor/rule-editor.tsx')).RuleEditor }))

type FieldProps = Omit<EditorProps, 'problems' | 'label'> & {
  /** Of the last save. */
  readonly error: string | undefined
}

/** The rule in an editor, and what the service says about it 300 ms after typing. */
export function RuleField({ error, ...rest }: FieldProps) {
  const check = useRuleCheck(useDebounced(rest.value)).data
  const problems = check?.problems ?? []
  const props: EditorProps = { ...rest, label: text.rule, problems }
  return (
    <Card isFlush title={text.rule} note={<CheckNote check={check} />}>
      <div className={styles.editor}>
        <Suspense fallback={<PlainEditor {...props} />}>
          <RuleEditor {...props} />
        </Suspense>
      </div>
      <div className={styles.notes} aria-live="polite">
        {problems.map(({ line, column, message }) => (
          <p key={`${line}:${column}:${message}`} data-tone="deny">
            <Shape tone="deny" />
            <code>{text.problem(line, column)}</code>
            <span>{message}</span>
          </p>
        ))}
        {error !== undefined && problems.length === 0 && (
          <p data-tone="deny">
            <Shape tone="deny" />
            <span>{error}</span>
          </p>
        )}
        {check !== undefined && problems.length === 0 && <CheckResult check={check} />}
      </div>
    </Card>
  )
}

function CheckNote({ check }: { readonly check: RuleCheck | undefined }) {
  if (check === undefined || check.problems.length > 0) return text.checking
  return `${check.form === 'cel' ? 'CEL · ' : ''}${text.valid}`
}

function CheckResult({ check }: { readonly check: RuleCheck }) {
  const { evaluated_by: evaluator, reach } = check
  if (evaluator === null)
    return (
      <p data-tone="warning">
        <Shape tone="warning" />
        <span>{text.notEvaluable}</span>
      </p>
    )
  return (
    <p>
      <span>
        {text.evaluatedBy[evaluator]} {reach?.whole_text === true && text.holdsBack}
      </span>
    </p>
  )
}

/** Until the editor is loaded. */
function PlainEditor({ value, label, isReadOnly, onChange }: EditorProps) {
  return (
    <textarea
      className={styles.plain}
      aria-label={label}
      readOnly={isReadOnly}
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
