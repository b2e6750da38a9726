import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count } from '../../kit/format.ts'
import { Notice } from '../../kit/notice.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { DefinedIn } from './defined-in.tsx'
import { ModelDialog } from './model-dialog.tsx'
import { mayUseOf, priceOf } from './facts.ts'
import { useCatalogue, type CatalogueModel } from './queries.ts'
import { Upstreams } from './upstreams.tsx'
import styles from './page.module.css'

const text = words.models

/** The catalogue with prices and targets, and the upstreams with their state. Both come from the configuration. */
export function ModelsPage() {
  const { model: openName, probe } = useSearch({ from: '/models' })
  const navigate = useNavigate({ from: '/models' })
  const close = (): void =>
    void navigate({ to: '/models', search: (before) => ({ ...before, model: undefined, probe: undefined }) })
  const { data: models, isPending, isError, error, refetch } = useCatalogue()
  const open = models?.find(({ name }) => name === openName)
  return (
    <div className={styles.page}>
      <p className={styles.purpose}>{text.purpose}</p>
      <Upstreams probed={probe} onClose={close} />
      {isPending && <LoadingRows widths={[140, 220, 80, 60, 60]} />}
      {isError && <FailureState title={text.failed} error={error} onRetry={() => void refetch()} />}
      {models?.length === 0 && (
        <EmptyState title={text.none}>
          <p>{text.noneText}</p>
          <HowToAdd />
        </EmptyState>
      )}
      {models && models.length > 0 && (
        <Card title={text.catalogue} note={text.models(models.length)} isFlush>
          <DataTable label={text.catalogue} rows={models} columns={columns} idOf={({ name }) => name} />
        </Card>
      )}
      {models?.every(({ defined_in: { source } }) => source === 'built_in') && models.length > 0 && (
        <Card title={text.addModel}>
          <Notice tone="none">{text.onlyEcho}</Notice>
          <HowToAdd />
        </Card>
      )}
      {open && <ModelDialog model={open} onClose={close} />}
    </div>
  )
}

function HowToAdd() {
  return (
    <div className={styles.blocks}>
      <CodeBlock code={text.example} />
      <p>{text.check}</p>
      <CodeBlock code="gatehouse doctor" />
    </div>
  )
}

const targetsOf = ({ name, targets }: CatalogueModel): string =>
  targets.map(({ upstream, model }) => (model === name ? upstream : `${upstream}/${model}`)).join(' → ')

const columns: readonly DataColumn<CatalogueModel>[] = [
  {
    id: 'name',
    name: text.name,
    cell: ({ name }) => (
      <Link to="/models" search={{ model: name }} className={styles.name}>
        {name}
      </Link>
    ),
  },
  {
    id: 'targets',
    name: text.targets,
    priority: 2,
    cell: (model) => <span title={targetsOf(model)}>{targetsOf(model)}</span>,
  },
  { id: 'context', name: text.context, isNumber: true, priority: 3, cell: (model) => count(model.context_tokens) },
  {
    id: 'input',
    name: text.input,
    isNumber: true,
    cell: (model) => priceOf(model.price.input),
  },
  {
    id: 'output',
    name: text.output,
    isNumber: true,
    cell: (model) => priceOf(model.price.output),
  },
  { id: 'may-use', name: text.mayUse, priority: 2, cell: mayUseOf },
  { id: 'defined', name: text.definedIn, priority: 3, cell: (model) => <DefinedIn at={model.defined_in} /> },
]
