import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Author } from '../../session/author.tsx'
import { useMay } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { dateAndTime, fullTime } from '../../kit/format.ts'
import { ErrorNotice } from '../../kit/notice.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { Affected, nextVersion } from './action-dialog.tsx'
import { ReasonField, reasonOf, reasonOption } from './reason-field.tsx'
import { ContentDiff } from './content-diff.tsx'
import { useRollback, useVersions, type Policy, type PolicyVersion } from './queries.ts'
import type { HistorySearch } from './search.ts'
import { usePolicyDraft } from './use-draft.ts'
import styles from './history-tab.module.css'

const text = words.policy

/** Every published version, the differences of any two, and the way back to one. */
export function HistoryTab() {
  const { policy } = usePolicyDraft()
  const query = useVersions(policy.id)
  const [target, setTarget] = useState<PolicyVersion>()
  const mayPublish = useMay('policies:publish')
  if (query.isPending) return <LoadingRows widths={[48, 140, 120, 120]} />
  if (query.data === undefined)
    return <FailureState title={text.versionsFailed} error={query.error} onRetry={() => void query.refetch()} />
  const versions = query.data.data
  if (versions.length === 0)
    return (
      <EmptyState title={text.noVersions}>
        <p>{text.noVersionsText}</p>
      </EmptyState>
    )
  const rollback: DataColumn<PolicyVersion> = {
    id: 'rollback',
    name: words.policies.state,
    cell: (version) =>
      version.current ? (
        text.current
      ) : (
        <Button
          isSmall
          disabled={!mayPublish}
          title={mayPublish ? undefined : words.policies.mayNotPublish}
          onClick={() => setTarget(version)}
        >
          {text.rollBackTo(version.version)}
        </Button>
      ),
  }
  return (
    <div className={styles.tab}>
      <Card isFlush title={text.versions}>
        <DataTable label={text.versions} rows={versions} columns={[...columns, rollback]} idOf={({ id }) => id} />
      </Card>
      {versions.length > 1 && <Comparison versions={versions} />}
      {target !== undefined && <RollbackDialog policy={policy} version={target} onClose={() => setTarget(undefined)} />}
    </div>
  )
}

const columns: readonly DataColumn<PolicyVersion>[] = [
  { id: 'version', name: text.versionColumn, cell: ({ version }) => text.version(version) },
  {
    id: 'published',
    name: text.published,
    cell: ({ published_at: at }) => <span title={fullTime(at * 1_000)}>{dateAndTime(at * 1_000)}</span>,
  },
  { id: 'author', name: text.author, cell: ({ published_by: id }) => <Author id={id} /> },
  { id: 'reason', name: text.reason, priority: 2, cell: ({ reason }) => reason ?? words.common.none },
  { id: 'mode', name: text.mode, priority: 2, cell: ({ mode }) => words.policies.states[mode] },
  { id: 'direction', name: text.direction, priority: 3, cell: ({ direction }) => text.directions[direction] },
  { id: 'scope', name: text.scope, priority: 2, cell: ({ scope }) => words.policies.scopes[scope] },
]

function Comparison({ versions }: { readonly versions: readonly PolicyVersion[] }) {
  const search: HistorySearch = useSearch({ from: '/policies/$policyId/history' })
  const navigate = useNavigate()
  const find = (wanted: number | undefined, at: number): PolicyVersion | undefined =>
    versions.find(({ version }) => version === wanted) ?? versions[at]
  const before = find(search.before, 1)
  const after = find(search.after, 0)
  if (before === undefined || after === undefined) return null
  const set = (changed: HistorySearch): void =>
    void navigate({ to: '.', search: (current: object) => ({ ...current, ...changed }), replace: true })
  const label = text.compared(before.version, after.version)
  return (
    <Card isFlush title={label}>
      <div className={styles.choices}>
        <VersionChoice
          label={text.from}
          versions={versions}
          value={before}
          onChange={(chosen) => set({ before: chosen })}
        />
        <VersionChoice
          label={text.to}
          versions={versions}
          value={after}
          onChange={(chosen) => set({ after: chosen })}
        />
      </div>
      <ContentDiff label={label} before={before} after={after} />
    </Card>
  )
}

type ChoiceProps = {
  readonly label: string
  readonly versions: readonly PolicyVersion[]
  readonly value: PolicyVersion
  readonly onChange: (version: number) => void
}

const VersionChoice = ({ label, versions, value, onChange }: ChoiceProps) => (
  <label>
    {label}
    <select value={value.version} onChange={(event) => onChange(Number(event.target.value))}>
      {versions.map(({ version }) => (
        <option key={version} value={version}>
          {text.version(version)}
        </option>
      ))}
    </select>
  </label>
)

type RollbackProps = { readonly policy: Policy; readonly version: PolicyVersion; readonly onClose: () => void }

function RollbackDialog({ policy, version, onClose }: RollbackProps) {
  const rollback = useRollback(policy.id, onClose)
  const dialog = text.dialogs.rollback
  const [reason, setReason] = useState('')
  const body = { revision: policy.revision, version: version.version, ...reasonOf(reason) }
  return (
    <Dialog
      isWide
      title={dialog.title(version.version)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button look="primary" disabled={rollback.isPending} onClick={() => rollback.mutate(body)}>
            {dialog.title(version.version)}
          </Button>
        </>
      }
    >
      <p>{dialog.text(version.version, nextVersion(policy))}</p>
      {policy.has_unpublished_changes && <p>{dialog.lost}</p>}
      {policy.state === 'paused' && <p>{text.dialogs.publish.paused}</p>}
      <Affected content={version} />
      {policy.published !== null && (
        <ContentDiff label={dialog.title(version.version)} before={policy.published} after={version} />
      )}
      <p>{dialog.undo}</p>
      <ReasonField value={reason} onChange={setReason} />
      {rollback.isError && <ErrorNotice error={rollback.error} />}
      <CommandPreview
        call={{
          method: 'POST',
          path: `/v1/organization/policies/${policy.id}/rollback`,
          body,
          command: `gatehouse policies rollback ${policy.id} --version ${version.version}${reasonOption(reason)} --revision ${policy.revision}`,
        }}
      />
    </Dialog>
  )
}
