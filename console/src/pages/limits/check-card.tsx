import { useState, type SubmitEvent } from 'react'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { errorOfField, useChange } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { count } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { SubjectSelect } from './subject-select.tsx'
import styles from './page.module.css'

const text = words.limits
const path = '/v1/organization/limits/check'

type Check = components['schemas']['LimitCheck']
type CheckProps = { readonly projectId: string | undefined; readonly keyId: string | undefined }

/** Checks a request against limits and credits without sending it. */
export function CheckCard({ projectId, keyId }: CheckProps) {
  const [chosen, setChosen] = useState<string>()
  const [model, setModel] = useState('')
  const [inputTokens, setInputTokens] = useState('1000')
  const [maxTokens, setMaxTokens] = useState('')
  const project = chosen ?? projectId
  const body = {
    project_id: project ?? '',
    ...(keyId !== undefined && { api_key_id: keyId }),
    model,
    input_tokens: Number(inputTokens),
    ...(maxTokens !== '' && { max_tokens: Number(maxTokens) }),
  }
  const check = useChange({ send: () => dataOf(api.POST(path, { body })), refresh: [] })
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    check.mutate(undefined)
  }
  const errorAt = (field: string): string | undefined => errorOfField(check.error, field)
  const isAtField = ['project_id', 'model', 'input_tokens', 'max_tokens'].some((field) => errorAt(field) !== undefined)
  const isComplete = project !== undefined && model !== '' && inputTokens !== ''
  return (
    <Card title={text.check} note={text.checkNote}>
      <form className={styles.form} onSubmit={submit}>
        <div className={styles.pair}>
          <Field label={text.project} error={errorAt('project_id')}>
            {(input) => (
              <SubjectSelect input={input} of="project" none={text.choose} value={project} onChange={setChosen} />
            )}
          </Field>
          <Field label={text.model} error={errorAt('model')}>
            {(input) => <input {...input} value={model} onChange={(event) => setModel(event.target.value)} />}
          </Field>
          <Field label={text.inputTokens} error={errorAt('input_tokens')}>
            {(input) => (
              <input
                {...input}
                type="number"
                min="0"
                value={inputTokens}
                onChange={(event) => setInputTokens(event.target.value)}
              />
            )}
          </Field>
          <Field label={text.maxTokens} hint={text.maxTokensHint} error={errorAt('max_tokens')}>
            {(input) => (
              <input
                {...input}
                type="number"
                min="1"
                value={maxTokens}
                onChange={(event) => setMaxTokens(event.target.value)}
              />
            )}
          </Field>
        </div>
        <div className={styles.buttons}>
          <Button type="submit" disabled={!isComplete || check.isPending}>
            {text.runCheck}
          </Button>
        </div>
        {check.isError && !isAtField && <ErrorNotice error={check.error} />}
        {check.data && (
          <Notice tone={check.data.would_pass ? 'allow' : 'deny'}>
            {verdictOf(check.data)} {text.wouldHold(count(check.data.holds.tokens), count(check.data.holds.credits))}
          </Notice>
        )}
        <CommandPreview call={{ method: 'POST', path, body }} />
      </form>
    </Card>
  )
}

function verdictOf({ would_pass: wouldPass, reason, scope, retry_after_seconds: seconds }: Check): string {
  if (wouldPass) return text.admitted
  const wait = seconds === null ? '' : text.retryAfter(seconds)
  if (reason === null || reason === 'credits' || scope === null) return text.rejectedCredits + wait
  return text.rejected(text.metrics[reason], text.scopes[scope]) + wait
}
