import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { errorOfField, useChange } from '../../api/use-change.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { ManagedNotice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { draftOfModel, emptyModel, modelFields, movedUp, type ModelDraft, type TargetDraft } from './drafts.ts'
import { modelKeys, useOffered, type CatalogueModel } from './queries.ts'
import { newModelYaml } from './yaml.ts'
import styles from './forms.module.css'

const text = words.models.form
const path = '/v1/organization/models'

type FormProps = {
  readonly model?: CatalogueModel | undefined
  /** The names of the upstreams that a target can have. */
  readonly upstreams: readonly string[]
  readonly onClose: () => void
}

/** Adds a model, or changes one: its targets in order, its price and its limits. */
export function ModelForm({ model, upstreams, onClose }: FormProps) {
  const [draft, setDraft] = useState(model ? draftOfModel(model) : emptyModel(upstreams[0] ?? ''))
  const body = model ? modelFields(draft, null) : { name: draft.name.trim(), ...modelFields(draft) }
  const change = useChange({ send: () => save(draft, model), refresh: modelKeys, onDone: onClose })
  const set = (changed: Partial<ModelDraft>): void => setDraft({ ...draft, ...changed })
  return (
    <FormDialog
      title={model ? text.editModel(model.name) : text.addModel}
      action={model ? text.save : text.addModel}
      isDisabled={draft.targets.some(({ upstream }) => upstream === '')}
      change={change}
      fields={['name', 'targets', 'price', 'context_tokens', 'max_output_tokens']}
      onSubmit={() => change.mutate(undefined)}
      onClose={onClose}
    >
      <ManagedNotice owner={model?.managed_by} />
      {!model && (
        <Field label={text.name} hint={text.modelNameHint} error={errorOfField(change.error, 'name')}>
          {(input) => (
            <input
              {...input}
              required
              maxLength={200}
              autoComplete="off"
              spellCheck={false}
              value={draft.name}
              onChange={({ target }) => set({ name: target.value })}
            />
          )}
        </Field>
      )}
      <Targets
        targets={draft.targets}
        upstreams={upstreams}
        error={errorOfField(change.error, 'targets')}
        onChange={(targets) => set({ targets })}
      />
      <Numbers draft={draft} error={change.error} onChange={set} />
      <h3>{words.models.asYaml}</h3>
      <CodeBlock code={newModelYaml(draft)} />
      <CommandPreview
        call={{
          method: model ? 'PATCH' : 'POST',
          path: model ? `${path}/${model.id}` : path,
          body,
          command: `gatehouse models ${model ? `update ${model.name}` : 'create'} -f model.yaml`,
        }}
      />
    </FormDialog>
  )
}

async function save(draft: ModelDraft, model: CatalogueModel | undefined): Promise<void> {
  if (model) {
    const params = { path: { model_id: model.id ?? model.name } }
    await dataOf(api.PATCH('/v1/organization/models/{model_id}', { params, body: modelFields(draft, null) as never }))
  } else {
    const body = { name: draft.name.trim(), ...modelFields(draft) }
    await dataOf(api.POST('/v1/organization/models', { body: body as never }))
  }
}

type TargetsProps = {
  readonly targets: readonly TargetDraft[]
  readonly upstreams: readonly string[]
  readonly error: string | undefined
  readonly onChange: (targets: readonly TargetDraft[]) => void
}

/** The targets, in the order in which they are tried. */
function Targets({ targets, upstreams, error, onChange }: TargetsProps) {
  const replace = (at: number, changed: Partial<TargetDraft>): void =>
    onChange(targets.map((target, position) => (position === at ? { ...target, ...changed } : target)))
  return (
    <fieldset className={styles.targets}>
      <legend>{words.models.targets}</legend>
      {targets.map((target, at) => (
        // Rows have no identity of their own: they are moved by exchanging their values.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={at} className={styles.target}>
          <Field label={text.targetUpstream(at + 1)}>
            {(input) => (
              <select
                {...input}
                value={target.upstream}
                onChange={(event) => replace(at, { upstream: event.target.value })}
              >
                {target.upstream === '' && <option value="" />}
                {[...new Set([...upstreams, target.upstream])].filter(Boolean).map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </Field>
          <TargetModel target={target} at={at} onChange={(model) => replace(at, { model })} />
          <div className={styles.order}>
            <IconButton
              isSmall
              icon="up"
              label={text.moveUp(at + 1)}
              disabled={at === 0}
              onClick={() => onChange(movedUp(targets, at))}
            />
            <IconButton
              isSmall
              icon="close"
              label={text.removeTarget(at + 1)}
              disabled={targets.length === 1}
              onClick={() => onChange(targets.filter((_, position) => position !== at))}
            />
          </div>
        </div>
      ))}
      {error !== undefined && (
        <p role="alert" className={styles.error}>
          {error}
        </p>
      )}
      <Button isSmall icon="plus" onClick={() => onChange([...targets, { upstream: upstreams[0] ?? '', model: '' }])}>
        {text.addTarget}
      </Button>
    </fieldset>
  )
}

type TargetModelProps = {
  readonly target: TargetDraft
  readonly at: number
  readonly onChange: (model: string) => void
}

/** The name of the model at the upstream, with those that the upstream offers. */
function TargetModel({ target: { upstream, model }, at, onChange }: TargetModelProps) {
  const offered = useOffered(upstream)
  const listId = `offered-${at}`
  return (
    <Field label={text.targetModel(at + 1)}>
      {(input) => (
        <>
          <input
            {...input}
            list={listId}
            spellCheck={false}
            placeholder={text.sameName}
            value={model}
            onChange={({ target }) => onChange(target.value)}
          />
          <datalist id={listId}>
            {offered.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

type NumbersProps = {
  readonly draft: ModelDraft
  readonly error: unknown
  readonly onChange: (changed: Partial<ModelDraft>) => void
}

const numbers = [
  ['input', 'price.input', 'any'],
  ['output', 'price.output', 'any'],
  ['cacheRead', 'price.cache_read', 'any'],
  ['cacheWrite', 'price.cache_write', 'any'],
  ['contextTokens', 'context_tokens', '1'],
  ['maxOutputTokens', 'max_output_tokens', '1'],
] as const

/** Prices and limits. An empty one has its default. */
function Numbers({ draft, error, onChange }: NumbersProps) {
  return (
    <div className={styles.numbers}>
      {numbers.map(([field, param, step]) => (
        <Field
          key={field}
          label={text.numbers[field]}
          hint={text.numberHints[field]}
          error={errorOfField(error, param)}
        >
          {(input) => (
            <input
              {...input}
              type="number"
              min="0"
              step={step}
              value={draft[field]}
              onChange={({ target }) => onChange({ [field]: target.value })}
            />
          )}
        </Field>
      ))}
    </div>
  )
}
