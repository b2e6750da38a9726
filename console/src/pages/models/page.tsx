import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../session/session.tsx'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count } from '../../kit/format.ts'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { DeleteEntryDialog, EntryActions, PauseDialog, type OwnEntry } from './entry-actions.tsx'
import { costOf, priceOf } from './facts.ts'
import { ModelDialog } from './model-dialog.tsx'
import { ModelForm } from './model-form.tsx'
import { Origin } from './origin.tsx'
import { useCatalogue, useModelUsage, useUpstreamList, type CatalogueModel, type ModelUsage } from './queries.ts'
import { UpstreamForm } from './upstream-form.tsx'
import { Upstreams } from './upstreams.tsx'
import styles from './page.module.css'

const text = words.models

/** What is done with an entry of the organization. */
export type EntryAct = { readonly act: 'pause' | 'delete'; readonly entry: OwnEntry }

/** The upstreams with their state, and the catalogue with prices, targets and traffic. */
export function ModelsPage() {
  const { model: openName, probe, add, edit } = useSearch({ from: '/models' })
  const navigate = useNavigate({ from: '/models' })
  const close = (): void => void navigate({ to: '/models', search: {} })
  const [acting, setActing] = useState<EntryAct | undefined>()
  const mayWrite = useMay('models:write')
  const { data: models, isPending, isError, error, refetch } = useCatalogue()
  const { list } = useUpstreamList()
  const usage = useModelUsage()
  const open = models?.find(({ name }) => name === openName)
  const edited = models?.find(({ name, id }) => id !== null && name === edit)
  const editedUpstream = list?.data.find(({ id }) => id !== null && id === edit)
  const upstreams = list?.data.filter(({ hidden }) => !hidden).map(({ name }) => name) ?? []
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <p className={styles.purpose}>{text.purpose}</p>
        {mayWrite && (
          <>
            <Button icon="plus" onClick={() => void navigate({ search: { add: 'upstream' } })}>
              {text.form.addUpstream}
            </Button>
            <Button look="primary" icon="plus" onClick={() => void navigate({ search: { add: 'model' } })}>
              {text.form.addModel}
            </Button>
          </>
        )}
      </div>
      <Upstreams probed={probe} onClose={close} onAct={setActing} />
      {isPending && <LoadingRows widths={[140, 220, 80, 60, 60]} />}
      {isError && <FailureState title={text.failed} error={error} onRetry={() => void refetch()} />}
      {models?.length === 0 && <EmptyState title={text.none}>{text.noneText}</EmptyState>}
      {models && models.length > 0 && (
        <Card title={text.catalogue} note={text.models(models.length)} isFlush>
          <DataTable
            label={text.catalogue}
            rows={models}
            columns={columnsFor({ usage, mayWrite, onAct: setActing })}
            idOf={({ name, id }) => id ?? name}
          />
        </Card>
      )}
      {open && <ModelDialog model={open} onClose={close} />}
      {mayWrite && add === 'upstream' && <UpstreamForm onClose={close} />}
      {mayWrite && add === 'model' && list && <ModelForm upstreams={upstreams} onClose={close} />}
      {mayWrite && edited && <ModelForm key={edited.id} model={edited} upstreams={upstreams} onClose={close} />}
      {mayWrite && editedUpstream && <UpstreamForm key={editedUpstream.id} upstream={editedUpstream} onClose={close} />}
      {acting?.act === 'pause' && <PauseDialog entry={acting.entry} onClose={() => setActing(undefined)} />}
      {acting?.act === 'delete' && <DeleteEntryDialog entry={acting.entry} onClose={() => setActing(undefined)} />}
    </div>
  )
}

const targetsOf = ({ name, targets }: CatalogueModel): string =>
  targets.map(({ upstream, model }) => (model === name ? upstream : `${upstream}/${model}`)).join(' → ')

type ColumnParts = {
  readonly usage: ReadonlyMap<string, ModelUsage> | undefined
  readonly mayWrite: boolean
  readonly onAct: (act: EntryAct) => void
}

const columnsFor = ({ usage, mayWrite, onAct }: ColumnParts): readonly DataColumn<CatalogueModel>[] => [
  {
    id: 'name',
    name: text.name,
    cell: ({ name, paused }) => (
      <span className={styles.entry}>
        <Link to="/models" search={{ model: name }} className={styles.name} title={name}>
          {name}
        </Link>
        {paused && <Badge tone="warning">{text.paused}</Badge>}
      </span>
    ),
  },
  {
    id: 'targets',
    name: text.targets,
    priority: 2,
    cell: (model) => (
      <span className={styles.route} title={targetsOf(model)}>
        {targetsOf(model)}
      </span>
    ),
  },
  { id: 'input', name: text.input, isNumber: true, cell: (model) => priceOf(model.price.input) },
  { id: 'output', name: text.output, isNumber: true, cell: (model) => priceOf(model.price.output) },
  ...(usage ? usageColumns(usage) : []),
  { id: 'defined', name: text.managed, priority: 2, cell: (model) => <Origin entry={model} /> },
  ...(mayWrite ? [actionColumn(onAct)] : []),
]

const usageColumns = (usage: ReadonlyMap<string, ModelUsage>): DataColumn<CatalogueModel>[] => [
  {
    id: 'requests',
    name: text.requests24,
    isNumber: true,
    priority: 2,
    cell: ({ names }) => count(names.reduce((sum, name) => sum + (usage.get(name)?.requests ?? 0), 0)),
  },
  {
    id: 'cost',
    name: text.cost24,
    isNumber: true,
    priority: 2,
    cell: ({ names }) => costOf(names.reduce((sum, name) => sum + (usage.get(name)?.costUsd ?? 0), 0)),
  },
]

const actionColumn = (onAct: (act: EntryAct) => void): DataColumn<CatalogueModel> => ({
  id: 'actions',
  name: text.actions,
  cell: ({ id, name, paused }) =>
    id !== null && <ModelActions entry={{ what: 'model', id, name, paused }} onAct={onAct} />,
})

type ModelActionsProps = { readonly entry: OwnEntry; readonly onAct: (act: EntryAct) => void }

function ModelActions({ entry, onAct }: ModelActionsProps) {
  const navigate = useNavigate({ from: '/models' })
  return (
    <EntryActions
      entry={entry}
      onEdit={() => void navigate({ search: { edit: entry.name } })}
      onAct={(act) => onAct({ act, entry })}
    />
  )
}
