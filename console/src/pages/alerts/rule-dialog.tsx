import { useState } from 'react'
import { useBudgetNames, useKeyNames, usePolicyNames, useProjectNames, type Names } from '../../api/names.ts'
import { errorOfField } from '../../api/use-change.ts'
import { Choice } from '../../kit/choice.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { ManagedNotice } from '../../kit/notice.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import { rulesPath, useChannels, useCreateRule, useUpdateRule, type AlertRule } from './queries.ts'
import {
  bodyOfDraft,
  draftOfKind,
  draftOfRule,
  isComplete,
  kindForms,
  ruleKinds,
  type FilterName,
  type RuleDraft,
  type RuleKind,
} from './rule-draft.ts'
import styles from './page.module.css'

const text = words.alerts
const fields = ['name', 'kind', 'threshold', 'unit', 'window', 'for_minutes', 'filter', 'channel_ids']

/** A new rule. The name is that of the kind until somebody writes another. */
export function CreateRuleDialog({ onClose }: { readonly onClose: () => void }) {
  const channels = useChannels().rows
  const [chosen, setDraft] = useState<RuleDraft>()
  const draft =
    chosen ??
    draftOfKind(
      'spend',
      text.kinds.spend,
      channels.map(({ id }) => id),
    )
  const change = useCreateRule(onClose)
  const body = bodyOfDraft(draft)
  const setKind = (kind: RuleKind): void => {
    const isOwnName = draft.name !== text.kinds[draft.kind]
    setDraft(draftOfKind(kind, isOwnName ? draft.name : text.kinds[kind], draft.channelIds))
  }
  return (
    <FormDialog
      title={text.create.rules}
      action={text.create.rules}
      isDisabled={!isComplete(draft)}
      change={change}
      fields={fields}
      onClose={onClose}
      onSubmit={() => change.mutate(body)}
    >
      <Field label={text.kind} hint={text.kindHints[draft.kind]} error={errorOfField(change.error, 'kind')}>
        {(props) => (
          <select
            {...props}
            value={draft.kind}
            onChange={(event) => setKind(ruleKinds.find((kind) => kind === event.target.value) ?? draft.kind)}
          >
            {ruleKinds.map((kind) => (
              <option key={kind} value={kind}>
                {text.kinds[kind]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <RuleFields draft={draft} error={change.error} onChange={setDraft} />
      <CommandPreview
        call={{ method: 'POST', path: rulesPath, body, command: 'gatehouse alerts create -f rule.yaml' }}
      />
    </FormDialog>
  )
}

export function EditRuleDialog({ rule, onClose }: { readonly rule: AlertRule; readonly onClose: () => void }) {
  const [draft, setDraft] = useState(() => draftOfRule(rule))
  const change = useUpdateRule(rule.id, onClose)
  const { kind: _kind, ...body } = bodyOfDraft(draft)
  return (
    <FormDialog
      title={text.verbOf(text.verbs.edit, rule.name)}
      action={text.save}
      isDisabled={!isComplete(draft)}
      change={change}
      fields={fields}
      onClose={onClose}
      onSubmit={() => change.mutate(body)}
    >
      <ManagedNotice owner={rule.managed_by} />
      <p>{text.kindHints[rule.kind]}</p>
      <RuleFields draft={draft} error={change.error} onChange={setDraft} />
      <CommandPreview
        call={{
          method: 'PATCH',
          path: `${rulesPath}/${rule.id}`,
          body,
          command: `gatehouse alerts update ${rule.id} -f rule.yaml`,
        }}
      />
    </FormDialog>
  )
}

type FieldsProps = {
  readonly draft: RuleDraft
  readonly error: unknown
  readonly onChange: (draft: RuleDraft) => void
}

function RuleFields({ draft, error, onChange }: FieldsProps) {
  const { units = [], windows = [], filters } = kindForms[draft.kind]
  return (
    <>
      <Field label={text.name} error={errorOfField(error, 'name')}>
        {(props) => (
          <input
            {...props}
            value={draft.name}
            required
            autoComplete="off"
            onChange={(event) => onChange({ ...draft, name: event.target.value })}
          />
        )}
      </Field>
      {draft.unit !== undefined && (
        <div className={styles.row}>
          <Field
            label={text.threshold}
            {...(units.length === 1 && { hint: text.units[draft.unit] })}
            error={errorOfField(error, 'threshold')}
          >
            {(props) => (
              <input
                {...props}
                inputMode="decimal"
                value={draft.threshold}
                required
                autoComplete="off"
                onChange={(event) => onChange({ ...draft, threshold: event.target.value })}
              />
            )}
          </Field>
          {units.length > 1 && (
            <Choice
              label={text.unit}
              nameOf={(unit) => text.units[unit]}
              options={units}
              value={draft.unit}
              onChange={(unit) => onChange({ ...draft, unit })}
            />
          )}
          {draft.window !== undefined && (
            <Choice
              label={text.window}
              nameOf={(window) => text.windows[window]}
              options={windows}
              value={draft.window}
              onChange={(window) => onChange({ ...draft, window })}
            />
          )}
        </div>
      )}
      <Field label={text.forMinutes} hint={text.forMinutesHint} error={errorOfField(error, 'for_minutes')}>
        {(props) => (
          <input
            {...props}
            inputMode="numeric"
            value={draft.forMinutes}
            required
            autoComplete="off"
            onChange={(event) => onChange({ ...draft, forMinutes: event.target.value })}
          />
        )}
      </Field>
      {filters.length > 0 && <FilterField draft={draft} error={error} filters={filters} onChange={onChange} />}
      <ChannelField draft={draft} onChange={onChange} />
    </>
  )
}

/** The only project, key, policy or budget that the rule looks at. */
function FilterField({ draft, error, filters, onChange }: FieldsProps & { readonly filters: readonly FilterName[] }) {
  const mayReadPolicies = useMay('policies:read')
  const names: Record<FilterName, Names> = {
    project_id: useProjectNames(),
    api_key_id: useKeyNames(),
    policy_id: usePolicyNames(mayReadPolicies),
    budget_id: useBudgetNames(useMay('budgets:read')),
  }
  const isListed = filters.some((filter) => names[filter].has(draft.filter.slice(filter.length + 1)))
  return (
    <Field label={text.filter} error={errorOfField(error, 'filter')}>
      {(props) => (
        <select
          {...props}
          value={draft.filter}
          onChange={(event) => onChange({ ...draft, filter: event.target.value })}
        >
          <option value="">{text.noFilter}</option>
          {draft.filter !== '' && !isListed && <option value={draft.filter}>{draft.filter}</option>}
          {filters.map((filter) => (
            <optgroup key={filter} label={text.filters[filter]}>
              {[...names[filter]].map(([id, name]) => (
                <option key={id} value={`${filter}:${id}`}>
                  {name}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      )}
    </Field>
  )
}

function ChannelField({ draft, onChange }: Omit<FieldsProps, 'error'>) {
  const { rows } = useChannels()
  const toggle = (id: string): void =>
    onChange({
      ...draft,
      channelIds: draft.channelIds.includes(id)
        ? draft.channelIds.filter((each) => each !== id)
        : [...draft.channelIds, id],
    })
  return (
    <fieldset className={styles.channels}>
      <legend>{text.sendBy}</legend>
      {rows.length === 0 && <p>{text.noChannelYet}</p>}
      {rows.map(({ id, name, kind }) => (
        <label key={id}>
          <input type="checkbox" checked={draft.channelIds.includes(id)} onChange={() => toggle(id)} />
          {name} <span className={styles.faint}>{text.channelKinds[kind]}</span>
        </label>
      ))}
    </fieldset>
  )
}
