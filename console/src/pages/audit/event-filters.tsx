import { useNavigate } from '@tanstack/react-router'
import {
  useAdminKeyNames,
  useJudgeNames,
  useKeyNames,
  useMemberNames,
  usePolicyNames,
  useProjectNames,
  type Names,
} from '../../api/names.ts'
import { ExportMenu } from '../../kit/export-menu.tsx'
import { Field } from '../../kit/field.tsx'
import { useMay } from '../../session/session.tsx'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import { words } from '../../words/en.ts'
import { eventKinds } from './kinds.ts'
import { filterOf } from './queries.ts'
import { objectFilter, type AuditSearch } from './search.ts'
import styles from './page.module.css'

const text = words.audit

/** Who did what to which object. The address holds the choice. */
export function EventFilters({ search }: { readonly search: AuditSearch }) {
  const navigate = useNavigate()
  const { from, to } = timeRangeOf(useTimeRangeSearch(), Date.now())
  const mayReadKeys = useMay('keys:read')
  const members = useMemberNames(useMay('members:read'))
  const adminKeys = useAdminKeyNames(mayReadKeys)
  const keys = useKeyNames()
  const policies = usePolicyNames(useMay('policies:read'))
  const projects = useProjectNames()
  const judges = useJudgeNames(useMay('judges:read'))
  const set = (changed: AuditSearch): void =>
    void navigate({ to: '/audit', search: (before: object) => ({ ...before, ...changed }), replace: true })
  const object = search.policy_id ?? search.project_id ?? search.resource_id
  return (
    <div className={styles.bar}>
      <Choice
        label={text.actor}
        all={text.anybody}
        value={search.actor_id}
        groups={[
          [text.groups.members, members],
          [text.groups.adminKeys, adminKeys],
          [text.groups.keys, keys],
        ]}
        onChange={(actorId) => set({ actor_id: actorId })}
      />
      <Choice
        label={text.object}
        all={text.anything}
        value={object}
        groups={[
          [text.groups.policies, policies],
          [text.groups.judges, judges],
          [text.groups.projects, projects],
          [text.groups.keys, keys],
          [text.groups.adminKeys, adminKeys],
          [text.groups.members, members],
        ]}
        onChange={(id) => set(objectFilter(id))}
      />
      <Choice
        label={text.kind}
        all={text.allKinds}
        value={search.event_kind}
        groups={[[text.kind, new Map(eventKinds.map((kind) => [kind, kind]))]]}
        onChange={(kind) => set({ event_kind: kind })}
      />
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={search.checkpoints === true}
          onChange={(event) => set({ checkpoints: event.target.checked || undefined })}
        />
        {text.checkpoints}
      </label>
      <span className={styles.end}>
        <ExportMenu
          path="/v1/organization/audit_logs/export"
          query={{ ...filterOf(search), from, to }}
          other={{ name: text.proofFile, path: '/v1/organization/audit_logs/proof', query: { from, to } }}
        />
      </span>
    </div>
  )
}

type ChoiceProps = {
  readonly label: string
  readonly all: string
  readonly value: string | undefined
  readonly groups: readonly (readonly [name: string, names: Names])[]
  readonly onChange: (value: string | undefined) => void
}

/** One of the named objects. An id of the address that has no name here stays as it is. */
function Choice({ label, all, value, groups, onChange }: ChoiceProps) {
  const isKnown = value === undefined || groups.some(([, names]) => names.has(value))
  const shown = groups.filter(([, names]) => names.size > 0)
  return (
    <Field label={label}>
      {(input) => (
        <select {...input} value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)}>
          <option value="">{all}</option>
          {!isKnown && <option value={value}>{value}</option>}
          {shown.map(([name, names]) => (
            <optgroup key={name} label={name}>
              {[...names].map(([id, named]) => (
                <option key={id} value={id}>
                  {named}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      )}
    </Field>
  )
}
