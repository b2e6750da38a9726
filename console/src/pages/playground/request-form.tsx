import type { KeyboardEvent, SubmitEvent } from 'react'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { words } from '../../words/en.ts'
import { CompareSelect } from './compare-select.tsx'
import { readVariation } from './comparison.ts'
import { bodyOf, hasText, isHeaderText, parametersIn, toolsIn, type Settings, type Texts } from './draft.ts'
import type { useRuleChoices } from './queries.ts'
import { dialects, type PlaygroundSearch } from './search.ts'
import { Select } from './select.tsx'
import { Turns } from './turns.tsx'
import { playgroundPath } from './use-run.ts'
import styles from './request-form.module.css'

const text = words.playground

type FormState = {
  readonly settings: Settings
  readonly search: PlaygroundSearch
  readonly texts: Texts
  readonly models: readonly string[] | undefined
  readonly projects: readonly (readonly [string, string])[] | undefined
  readonly rules: ReturnType<typeof useRuleChoices>
}

type FormProps = {
  readonly form: FormState
  readonly onSet: (changed: PlaygroundSearch) => void
  readonly onChange: (changed: Partial<Texts>) => void
  readonly isRunning: boolean
  /** Undefined if the key may not send requests. */
  readonly onSend: (() => void) | undefined
  readonly onStop: () => void
}

/** The request: who sends it, to which model, and its texts. */
export function RequestForm({ form, onSet, onChange, isRunning, onSend, onStop }: FormProps) {
  const { settings, texts } = form
  const { tools, problem: toolsProblem } = toolsIn(texts.tools)
  const { parameters, problem: parametersProblem } = parametersIn(texts.parameters)
  const problem = toolsProblem ?? parametersProblem
  const hasLabels = isHeaderText(form.search.user) && isHeaderText(form.search.target)
  /** Not before the models and projects have arrived. */
  const hasTarget = settings.model !== '' && settings.project !== ''
  const isComplete = hasTarget && hasLabels && problem === undefined && hasText(texts)
  const canSend = onSend !== undefined && !isRunning && isComplete
  const isTwice = readVariation(form.search.compare)?.kind === 'model'
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (canSend) onSend()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && canSend) onSend()
  }
  const call = { project_id: settings.project, dialect: settings.dialect, body: bodyOf(settings, texts) }
  return (
    <Card title={text.request} note={text.requestNote}>
      <form className={styles.form} onSubmit={submit} onKeyDown={onKeyDown}>
        <Target {...form} onSet={onSet} />
        <CompareSelect {...form} onSet={onSet} />
        <Field label={text.system} hint={text.systemHint}>
          {({ className, ...props }) => (
            <textarea
              {...props}
              className={`${className} ${styles.area}`}
              rows={2}
              value={texts.system}
              onChange={({ target }) => onChange({ system: target.value })}
            />
          )}
        </Field>
        <Turns turns={texts.turns} onChange={(turns) => onChange({ turns })} />
        <Options
          {...form}
          count={(tools?.length ?? 0) + Object.keys(parameters ?? {}).length}
          problems={{ tools: toolsProblem, parameters: parametersProblem }}
          onSet={onSet}
          onChange={onChange}
        />
        <div className={styles.buttons}>
          {isRunning ? (
            <Button look="danger" onClick={onStop}>
              {text.stop}
            </Button>
          ) : (
            <Button look="primary" type="submit" disabled={!canSend}>
              {isTwice ? text.sendBoth : text.send}
            </Button>
          )}
          <span>{isTwice ? text.sendBothNote : text.sendNote}</span>
        </div>
        <CommandPreview call={{ method: 'POST', path: playgroundPath, body: call, headers: settings.headers }} />
      </form>
    </Card>
  )
}

type TargetProps = Omit<FormState, 'texts' | 'rules'> & { readonly onSet: FormProps['onSet'] }

function Target({ settings, models, projects, onSet }: TargetProps) {
  return (
    <div className={styles.fields}>
      <Select
        label={text.project}
        value={settings.project}
        options={projects}
        onChange={(project) => onSet({ project })}
      />
      <Select
        label={text.model}
        value={settings.model}
        options={models?.map((name) => [name, name])}
        onChange={(model) => onSet({ model })}
      />
      <Select
        label={text.dialect}
        value={settings.dialect}
        options={dialects.map((dialect) => [dialect, text.dialects[dialect]])}
        onChange={(value) => onSet({ dialect: dialects.find((dialect) => dialect === value) })}
      />
      <Field label={text.maxTokens}>
        {(props) => (
          <input
            {...props}
            type="number"
            min={1}
            value={settings.maxTokens}
            onChange={({ target }) =>
              onSet({ max_tokens: target.valueAsNumber > 0 ? target.valueAsNumber : undefined })
            }
          />
        )}
      </Field>
    </div>
  )
}

type OptionProps = Pick<FormState, 'settings' | 'search' | 'texts'> &
  Pick<FormProps, 'onSet' | 'onChange'> & {
    readonly count: number
    readonly problems: Readonly<Record<'tools' | 'parameters', string | undefined>>
  }

function Options({ settings, search, texts, count, problems, onSet, onChange }: OptionProps) {
  return (
    <>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={settings.stream}
          onChange={({ target }) => onSet({ stream: target.checked ? undefined : false })}
        />
        {text.stream}
      </label>
      <details className={styles.more}>
        <summary>{text.more(count + Object.keys(settings.headers).length)}</summary>
        <div className={styles.fields}>
          {(['user', 'target'] as const).map((name) => (
            <Field
              key={name}
              label={text.labels[name]}
              hint={text.labelHints[name]}
              error={isHeaderText(search[name]) ? undefined : text.labelProblem}
            >
              {(props) => (
                <input
                  {...props}
                  value={search[name] ?? ''}
                  spellCheck={false}
                  onChange={({ target }) => onSet({ [name]: target.value === '' ? undefined : target.value })}
                />
              )}
            </Field>
          ))}
        </div>
        {(['tools', 'parameters'] as const).map((name) => (
          <Field
            key={name}
            label={text[name]}
            hint={name === 'tools' ? text.toolsHint[settings.dialect] : text.parametersHint}
            error={problems[name]}
          >
            {({ className, ...props }) => (
              <textarea
                {...props}
                className={`${className} ${styles.area} ${styles.code}`}
                rows={name === 'tools' ? 5 : 3}
                spellCheck={false}
                value={texts[name]}
                onChange={({ target }) => onChange({ [name]: target.value })}
              />
            )}
          </Field>
        ))}
      </details>
    </>
  )
}
