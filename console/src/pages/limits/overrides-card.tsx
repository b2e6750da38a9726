import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { useKeyNames, useProjectNames } from '../../api/names.ts'
import { useChange } from '../../api/use-change.ts'
import { useMe } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { count } from '../../kit/format.ts'
import { ErrorNotice } from '../../kit/notice.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { metrics } from './closest.ts'
import { OverrideDialog } from './override-dialog.tsx'
import { overrideCommand, overridesPath, subjectOf } from './override.ts'
import { limitsKey, useOverrides, type LimitOverride } from './queries.ts'
import { useCreditManager } from './use-credit-manager.ts'
import styles from './page.module.css'

const text = words.limits

type Open = { readonly dialog: 'set' | 'remove'; readonly override: LimitOverride | undefined }

/** The limits that replace those of the tier. They can be set, changed and removed. */
export function OverridesCard() {
  const overrides = useOverrides()
  const [open, setOpen] = useState<Open>()
  const reason = useCreditManager()
  const nameOf = useSubjectName()
  const close = (): void => setOpen(undefined)
  const isDisabled = reason !== undefined
  const columns: readonly DataColumn<LimitOverride>[] = [
    { id: 'subject', name: text.subject, cell: (row) => nameOf(row) },
    { id: 'scope', name: text.scope, priority: 2, cell: ({ scope }) => text.scopes[scope] },
    { id: 'values', name: text.values, cell: valuesOf },
    {
      id: 'actions',
      name: text.actions,
      cell: (override) => (
        <span className={styles.buttons}>
          <Button isSmall disabled={isDisabled} title={reason} onClick={() => setOpen({ dialog: 'set', override })}>
            {text.changeLimits}
          </Button>
          <Button isSmall disabled={isDisabled} title={reason} onClick={() => setOpen({ dialog: 'remove', override })}>
            {text.removeLimits}
          </Button>
        </span>
      ),
    },
  ]
  return (
    <Card
      title={text.overrides}
      note={
        <Button
          isSmall
          disabled={isDisabled}
          title={reason}
          onClick={() => setOpen({ dialog: 'set', override: undefined })}
        >
          {text.setLimits}
        </Button>
      }
      isFlush
    >
      {overrides.isPending && <LoadingRows widths={[120, 60, 200]} rows={2} />}
      {overrides.isError && (
        <FailureState title={text.limitsFailed} error={overrides.error} onRetry={() => void overrides.refetch()} />
      )}
      {overrides.data?.data.length === 0 && <p className={styles.flush}>{text.overridesNone}</p>}
      {overrides.data && overrides.data.data.length > 0 && (
        <DataTable
          label={text.overrides}
          rows={overrides.data.data}
          columns={columns}
          idOf={({ subject_id: id }) => id}
        />
      )}
      {open?.dialog === 'set' && <OverrideDialog override={open.override} onClose={close} />}
      {open?.dialog === 'remove' && open.override && (
        <RemoveDialog override={open.override} name={nameOf(open.override)} onClose={close} />
      )}
    </Card>
  )
}

function useSubjectName(): (override: LimitOverride) => string {
  const projects = useProjectNames()
  const keys = useKeyNames()
  const { organization } = useMe()
  return ({ subject_id: id }) => projects.get(id) ?? keys.get(id) ?? (id === organization.id ? organization.name : id)
}

const valuesOf = ({ limits }: LimitOverride): string =>
  metrics
    .flatMap((metric) => {
      const limit = limits[metric]
      if (limit === undefined) return []
      return [`${text.metrics[metric]}: ${limit === 0 ? text.noLimit : count(limit)}`]
    })
    .join(' · ')

type RemoveProps = { readonly override: LimitOverride; readonly name: string; readonly onClose: () => void }

function RemoveDialog({ override, name, onClose }: RemoveProps) {
  const subject = subjectOf(override.scope, override.subject_id)
  const remove = useChange({
    send: () => dataOf(api.DELETE(overridesPath, { params: { query: subject } })),
    refresh: [limitsKey],
    onDone: onClose,
  })
  const query = new URLSearchParams(subject).toString()
  return (
    <Dialog
      title={text.removeTitle(name)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button look="danger" disabled={remove.isPending} onClick={() => remove.mutate(undefined)}>
            {text.removing}
          </Button>
        </>
      }
    >
      <p>
        {text.affects[override.scope]} {text.removeText}
      </p>
      {remove.isError && <ErrorNotice error={remove.error} />}
      <CommandPreview
        call={{
          method: 'DELETE',
          path: query === '' ? overridesPath : `${overridesPath}?${query}`,
          command: overrideCommand(subject, {}),
        }}
      />
    </Dialog>
  )
}
