import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ListQuery } from '../../api/use-list.ts'
import { Button } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { LoadMore } from '../../kit/load-more.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import type { ProjectsSearch, Tab } from './search.ts'
import { createText } from './toolbar.tsx'

const text = words.projects

type ListProps<Row> = {
  readonly tab: Tab
  readonly search: ProjectsSearch
  readonly query: ListQuery<Row>
  readonly columns: readonly DataColumn<Row>[]
  readonly mayChange: boolean
}

/** The rows of a list, or why there are none. */
export function List<Row extends { readonly id: string }>(props: ListProps<Row>): ReactNode {
  const { tab, search, query, columns, mayChange } = props
  if (query.isPending) return <LoadingRows widths={[140, 100, 80, 90, 60]} />
  if (query.isError && query.rows.length === 0)
    return (
      <FailureState
        title={tab === 'projects' ? text.failed.projects : text.failed.keys}
        error={query.error}
        onRetry={() => void query.refetch()}
      />
    )
  if (query.rows.length === 0) return <NoRows tab={tab} search={search} mayChange={mayChange} />
  return (
    <>
      <DataTable label={text.tabs[tab]} rows={query.rows} columns={columns} idOf={({ id }) => id} />
      <LoadMore query={query} />
    </>
  )
}

const commands = {
  keys: 'gatehouse keys create --name my-app --expires 90d',
  projects: 'gatehouse projects create --name Support',
  administrators: 'gatehouse keys create --admin --name CI --permissions policies:read',
} as const satisfies Record<Tab, string>

type NoRowsProps = Pick<ListProps<never>, 'tab' | 'search' | 'mayChange'>

function NoRows({ tab, search, mayChange }: NoRowsProps) {
  const navigate = useNavigate({ from: '/projects' })
  const isFiltered = search.search !== undefined || search.status !== undefined || search.project_id !== undefined
  if (isFiltered)
    return (
      <EmptyState
        title={text.noMatch}
        actions={
          <Button onClick={() => void navigate({ to: '/projects', search: { tab: search.tab } })}>
            {text.clearFilters}
          </Button>
        }
      />
    )
  return (
    <EmptyState
      title={text.empty[tab]}
      actions={
        mayChange && (
          <Button
            look="primary"
            onClick={() => void navigate({ to: '/projects', search: (before) => ({ ...before, dialog: 'create' }) })}
          >
            {createText[tab]}
          </Button>
        )
      }
    >
      <p>{text.empty[`${tab}Text`]}</p>
      <CodeBlock code={commands[tab]} />
    </EmptyState>
  )
}
