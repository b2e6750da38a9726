import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useProjectNames } from '../../api/names.ts'
import { useMay } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Notice } from '../../kit/notice.tsx'
import { TabLinks } from '../../kit/tab-links.tsx'
import { words } from '../../words/en.ts'
import { adminKeyColumns, apiKeyColumns } from './key-columns.tsx'
import { CreateKeyDialog, EditKeyDialog, RevokeKeyDialog, RotateKeyDialog } from './key-dialogs.tsx'
import { List } from './list.tsx'
import { projectColumns } from './project-columns.tsx'
import { ArchiveProjectDialog, NameProjectDialog } from './project-dialogs.tsx'
import { useAdminKeys, useApiKeys, useProjects, useSpendByKey, type AnyKey, type Project } from './queries.ts'
import { tabs, type DialogName, type ProjectsSearch, type Tab } from './search.ts'
import { Toolbar } from './toolbar.tsx'
import styles from './page.module.css'

const text = words.projects

const permissions = {
  keys: 'keys:write',
  projects: 'projects:write',
  administrators: 'keys:write',
} as const satisfies Record<Tab, string>

/** Projects, their API keys, and administrator keys. The address holds the tab, the filters and the open dialog. */
export function ProjectsPage() {
  const search: ProjectsSearch = useSearch({ from: '/projects' })
  const tab = search.tab ?? 'keys'
  const permission = permissions[tab]
  const mayChange = useMay(permission)
  const names = useProjectNames()
  const Part = { keys: ApiKeys, projects: Projects, administrators: AdminKeys }[tab]
  return (
    <section className={styles.page} aria-label={words.pages.projects}>
      <TabLinks label={text.parts} tabs={tabs.map((each) => ({ name: text.tabs[each], link: linkTo(each, search) }))} />
      <Toolbar tab={tab} search={search} projects={names} permission={permission} mayChange={mayChange} />
      {!mayChange && (
        <div className={styles.notice}>
          <Notice tone="none">{text.readOnly(permission)}</Notice>
        </div>
      )}
      <Part key={tab} search={search} mayChange={mayChange} />
    </section>
  )
}

/** Filters belong to their list, so another tab begins without them. */
const linkTo = (tab: Tab, search: ProjectsSearch) => ({
  to: '/projects' as const,
  search: tab === (search.tab ?? 'keys') ? search : { tab: tab === 'keys' ? undefined : tab },
})

type PartProps = { readonly search: ProjectsSearch; readonly mayChange: boolean }

function ApiKeys({ search, mayChange }: PartProps) {
  const query = useApiKeys(search)
  const spend = useSpendByKey(useMay('usage:read'))
  const row = useRow(query, search.id)
  const { dialog, close } = useDialog(search, mayChange)
  return (
    <>
      <List
        tab="keys"
        search={search}
        query={query}
        columns={apiKeyColumns({ mayChange, spend })}
        mayChange={mayChange}
      />
      {dialog === 'create' && <CreateApiKey projectId={search.project_id} onClose={close} />}
      <KeyDialog dialog={dialog} apiKey={row} isMissing={isMissing(query, search.id)} onClose={close} />
    </>
  )
}

type CreateProps = { readonly projectId: string | undefined; readonly onClose: () => void }

function CreateApiKey({ projectId, onClose }: CreateProps) {
  const projects = useProjects({ status: 'active' })
  if (projects.isPending) return null
  return <CreateKeyDialog projects={projects.rows} projectId={projectId} onClose={onClose} />
}

function AdminKeys({ search, mayChange }: PartProps) {
  const query = useAdminKeys(search)
  const row = useRow(query, search.id)
  const { dialog, close } = useDialog(search, mayChange)
  return (
    <>
      <List
        tab="administrators"
        search={search}
        query={query}
        columns={adminKeyColumns({ mayChange })}
        mayChange={mayChange}
      />
      {dialog === 'create' && <CreateKeyDialog projects={undefined} projectId={undefined} onClose={close} />}
      <KeyDialog dialog={dialog} apiKey={row} isMissing={isMissing(query, search.id)} onClose={close} />
    </>
  )
}

function Projects({ search, mayChange }: PartProps) {
  const query = useProjects(search)
  const { dialog, close } = useDialog(search, mayChange)
  const project: Project | undefined = useRow(query, search.id)
  return (
    <>
      <List tab="projects" search={search} query={query} columns={projectColumns(mayChange)} mayChange={mayChange} />
      {dialog === 'create' && <NameProjectDialog project={undefined} onClose={close} />}
      {dialog === 'edit' && project && <NameProjectDialog project={project} onClose={close} />}
      {(dialog === 'archive' || dialog === 'unarchive') && project && (
        <ArchiveProjectDialog project={project} action={dialog} onClose={close} />
      )}
    </>
  )
}

type Loaded<Row> = {
  readonly rows: readonly Row[]
  readonly hasNextPage: boolean
  readonly isFetching: boolean
  readonly fetchNextPage: () => unknown
}

/** The row with this id. Loads further pages until it is there, because an address can name any row. */
function useRow<Row extends { readonly id: string }>(query: Loaded<Row>, id: string | undefined): Row | undefined {
  const { rows, hasNextPage, isFetching, fetchNextPage } = query
  const row = rows.find((each) => each.id === id)
  const isMissing = id !== undefined && row === undefined && hasNextPage && !isFetching
  useEffect(() => {
    if (isMissing) void fetchNextPage()
  }, [isMissing, fetchNextPage])
  return row
}

/** Whether an address names a row that is on no page of the list. */
const isMissing = <Row extends { readonly id: string }>(
  { rows, hasNextPage, isFetching }: Loaded<Row>,
  id: string | undefined,
): boolean => id !== undefined && !isFetching && !hasNextPage && !rows.some((row) => row.id === id)

type KeyDialogProps = {
  readonly dialog: DialogName | undefined
  readonly apiKey: AnyKey | undefined
  readonly isMissing: boolean
  readonly onClose: () => void
}

function KeyDialog({ dialog, apiKey, isMissing: isUnknown, onClose }: KeyDialogProps) {
  if (apiKey === undefined)
    return isUnknown && dialog !== undefined && dialog !== 'create' ? (
      <Dialog
        title={words.common.missing}
        onClose={onClose}
        actions={<Button onClick={onClose}>{words.common.close}</Button>}
      >
        <p>{words.common.missingText}</p>
      </Dialog>
    ) : null
  if (dialog === 'edit') return <EditKeyDialog apiKey={apiKey} onClose={onClose} />
  if (dialog === 'rotate') return <RotateKeyDialog apiKey={apiKey} onClose={onClose} />
  if (dialog === 'revoke') return <RevokeKeyDialog apiKey={apiKey} onClose={onClose} />
  return null
}

/** The dialog that the address names, for administrators who may change something. */
function useDialog({ dialog }: ProjectsSearch, mayChange: boolean) {
  const navigate = useNavigate({ from: '/projects' })
  const close = (): void =>
    void navigate({ to: '/projects', search: (before) => ({ ...before, dialog: undefined, id: undefined }) })
  return { dialog: mayChange ? dialog : undefined, close }
}
