import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { errorOfField, useChange } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { milliseconds } from '../../kit/format.ts'
import { ErrorNotice, ManagedNotice, Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { draftOfUpstream, emptyUpstream, upstreamFields, type UpstreamDraft } from './drafts.ts'
import { modelKeys, type Upstream } from './queries.ts'
import { upstreamYaml } from './yaml.ts'
import styles from './forms.module.css'

const text = words.models.form
const path = '/v1/organization/upstreams'

const kinds = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'echo'] as const
const servers = ['openai', 'llama.cpp', 'llama-cpp-python', 'ollama', 'vllm', 'lm-studio', 'sglang'] as const

type FormProps = { readonly upstream?: Upstream | undefined; readonly onClose: () => void }

/** Adds an upstream, or changes one. It can be tested before, and the models that it offers can be added with it. */
export function UpstreamForm({ upstream, onClose }: FormProps) {
  const [draft, setDraft] = useState(upstream ? draftOfUpstream(upstream) : emptyUpstream)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const test = useChange({
    send: () => dataOf(api.POST('/v1/organization/upstreams/test', { body: upstreamFields(draft) as never })),
    refresh: [],
  })
  const fields = upstreamFields(draft, upstream && null)
  const body = upstream ? fields : { name: draft.name.trim(), ...fields }
  const change = useChange({ send: () => save(draft, { upstream, chosen }), refresh: modelKeys, onDone: onClose })
  const set = (changed: Partial<UpstreamDraft>): void => {
    setDraft({ ...draft, ...changed })
    test.reset()
  }
  return (
    <FormDialog
      title={upstream ? text.editUpstream(upstream.name) : text.addUpstream}
      action={upstream ? text.save : chosen.length === 0 ? text.addUpstream : text.addWithModels(chosen.length)}
      change={change}
      fields={['name', 'kind', 'server', 'base_url', 'api_key']}
      onSubmit={() => change.mutate(undefined)}
      onClose={onClose}
    >
      <ManagedNotice owner={upstream?.managed_by} />
      <UpstreamFields draft={draft} isNew={!upstream} error={change.error ?? test.error} onChange={set} />
      <div className={styles.test}>
        <Button disabled={test.isPending} onClick={() => test.mutate(undefined)}>
          {text.test}
        </Button>
        <span className={styles.quiet}>{test.isPending ? words.models.sending : text.testHint}</span>
      </div>
      {test.isError && <ErrorNotice error={test.error} />}
      {test.data && <TestResult result={test.data} />}
      {test.data && !upstream && test.data.models.length > 0 && (
        <Offered names={test.data.models} chosen={chosen} onChange={setChosen} />
      )}
      <h3>{words.models.asYaml}</h3>
      <CodeBlock code={upstreamYaml(draft)} />
      <CommandPreview
        call={{
          method: upstream ? 'PATCH' : 'POST',
          path: upstream ? `${path}/${upstream.id}` : path,
          body: { ...body, ...(typeof fields['api_key'] === 'string' && { api_key: '…' }) },
          command: `gatehouse upstreams ${upstream ? `update ${upstream.name}` : 'create'} -f upstream.yaml`,
        }}
      />
    </FormDialog>
  )
}

type Saved = { readonly upstream: Upstream | undefined; readonly chosen: readonly string[] }

async function save(draft: UpstreamDraft, { upstream, chosen }: Saved): Promise<void> {
  if (upstream) {
    const params = { path: { upstream_id: upstream.id ?? upstream.name } }
    await dataOf(
      api.PATCH('/v1/organization/upstreams/{upstream_id}', { params, body: upstreamFields(draft, null) as never }),
    )
    return
  }
  const name = draft.name.trim()
  await dataOf(api.POST('/v1/organization/upstreams', { body: { name, ...upstreamFields(draft) } as never }))
  for (const model of chosen)
    await dataOf(api.POST('/v1/organization/models', { body: { name: model, targets: [{ upstream: name }] } }))
}

type FieldsProps = {
  readonly draft: UpstreamDraft
  readonly isNew: boolean
  readonly error: unknown
  readonly onChange: (changed: Partial<UpstreamDraft>) => void
}

function UpstreamFields({ draft, isNew, error, onChange }: FieldsProps) {
  return (
    <>
      {isNew && (
        <Field label={text.name} hint={text.upstreamNameHint} error={errorOfField(error, 'name')}>
          {(input) => (
            <input
              {...input}
              required
              maxLength={64}
              autoComplete="off"
              spellCheck={false}
              value={draft.name}
              onChange={({ target }) => onChange({ name: target.value })}
            />
          )}
        </Field>
      )}
      <Field label={words.models.kind} hint={text.kinds[draft.kind]} error={errorOfField(error, 'kind')}>
        {(input) => (
          <select
            {...input}
            value={draft.kind}
            onChange={({ target }) => onChange({ kind: target.value as typeof draft.kind })}
          >
            {kinds.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        )}
      </Field>
      {draft.kind === 'openai-chat' && (
        <Field label={text.server} hint={text.serverHint} error={errorOfField(error, 'server')}>
          {(input) => (
            <select {...input} value={draft.server} onChange={({ target }) => onChange({ server: target.value })}>
              <option value="">{text.anyServer}</option>
              {servers.map((server) => (
                <option key={server}>{server}</option>
              ))}
            </select>
          )}
        </Field>
      )}
      {draft.kind !== 'echo' && (
        <>
          <Field label={text.baseUrl} hint={text.baseUrlHint} error={errorOfField(error, 'base_url')}>
            {(input) => (
              <input
                {...input}
                type="url"
                placeholder="https://"
                value={draft.baseUrl}
                onChange={({ target }) => onChange({ baseUrl: target.value })}
              />
            )}
          </Field>
          <Field label={text.apiKey} hint={text.apiKeyHint} error={errorOfField(error, 'api_key')}>
            {(input) => (
              <input
                {...input}
                autoComplete="off"
                spellCheck={false}
                value={draft.apiKey}
                onChange={({ target }) => onChange({ apiKey: target.value })}
              />
            )}
          </Field>
        </>
      )}
    </>
  )
}

type Test = {
  readonly model: string | null
  readonly ms: number
  readonly error: { readonly code: string; readonly message: string } | null
}

function TestResult({ result: { model, ms, error } }: { readonly result: Test }) {
  if (error === null) return <Notice tone="allow">{text.works(model ?? words.common.none, milliseconds(ms))}</Notice>
  return (
    <Notice tone="error">
      {text.doesNotWork} {error.message} <code>{error.code}</code>
    </Notice>
  )
}

type OfferedProps = {
  readonly names: readonly string[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

/** The models that the upstream lists, to add those that are chosen. */
function Offered({ names, chosen, onChange }: OfferedProps) {
  return (
    <fieldset className={styles.offered}>
      <legend>{text.offered(names.length)}</legend>
      {names.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, name] : chosen.filter((each) => each !== name))
            }
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}
