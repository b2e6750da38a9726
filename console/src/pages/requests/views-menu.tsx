import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { readPreferences, setPreferences } from '../../session/preferences.ts'
import { useMay } from '../../session/session.tsx'
import { useTimeRangeSearch, useZone } from '../../session/time-range.ts'
import {
  queryOfView,
  searchOfView,
  useCreateViews,
  useDeleteView,
  useViews,
  type SavedView,
} from '../../session/views.ts'
import { buttonClass } from '../../kit/button.tsx'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../../kit/menu.tsx'
import { words } from '../../words/en.ts'
import type { RequestSearch } from './search.ts'
import { RenameDialog, SaveDialog } from './view-dialogs.tsx'

const text = words.requests.views

/** Named filters, columns and ranges, of this person and those that others share. */
export function ViewsMenu({ search }: { readonly search: RequestSearch }) {
  const [dialog, setDialog] = useState<'save' | 'rename'>()
  const range = useTimeRangeSearch()
  const zone = useZone()
  const navigate = useNavigate()
  const { data: views = [], isError } = useViews('requests')
  const remove = useDeleteView('requests')
  const mayChangeAll = useMay('*')
  const query = queryOfView({ ...search, ...range, zone: zone === 'utc' ? zone : undefined })
  const current = views.find((view) => view.query === query)
  const open = (view: SavedView): void =>
    void navigate({ to: '/requests', search: { ...noRange, ...searchOfView(view) } })
  const groups = [
    [text.own, views.filter((view) => !view.shared)],
    [text.shared, views.filter((view) => view.shared)],
  ] as const
  const mayChange = current !== undefined && (current.is_own || mayChangeAll)
  return (
    <>
      <Menu
        align="start"
        triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
        trigger={current?.name ?? text.label}
        label={current === undefined ? text.label : text.current(current.name)}
      >
        {isError && <MenuLabel>{text.failed}</MenuLabel>}
        {groups.map(
          ([label, list]) => list.length > 0 && <ViewList key={label} label={label} views={list} onOpen={open} />,
        )}
        {views.length > 0 && <MenuSeparator />}
        <MenuItem onClick={() => setDialog('save')}>{text.save}</MenuItem>
        {mayChange && (
          <>
            <MenuItem onClick={() => setDialog('rename')}>{text.rename(current.name)}</MenuItem>
            <MenuItem onClick={() => remove.mutate(current.id)}>{text.remove(current.name)}</MenuItem>
          </>
        )}
        <BrowserViews />
      </Menu>
      {dialog === 'save' && <SaveDialog query={query} onClose={() => setDialog(undefined)} />}
      {dialog === 'rename' && current && <RenameDialog view={current} onClose={() => setDialog(undefined)} />}
    </>
  )
}

type ListProps = {
  readonly label: string
  readonly views: readonly SavedView[]
  readonly onOpen: (view: SavedView) => void
}

const ViewList = ({ label, views, onOpen }: ListProps) => (
  <>
    <MenuLabel>{label}</MenuLabel>
    {views.map((view) => (
      <MenuItem key={view.id} onClick={() => onOpen(view)}>
        {view.name}
      </MenuItem>
    ))}
  </>
)

/** Views that an earlier version kept in this browser can be saved on the server, once. */
function BrowserViews() {
  const [views, setViews] = useState(() => readPreferences().requestViews)
  const create = useCreateViews('requests', () => setViews(setPreferences({ requestViews: [] }).requestViews))
  if (views.length === 0) return null
  const save = (): void => create.mutate(views.map(({ name, search }) => ({ name, query: queryOfView(search) })))
  return (
    <>
      <MenuSeparator />
      <MenuItem onClick={save}>{text.ofBrowser(views.length)}</MenuItem>
    </>
  )
}

/** Ends the range of the page. One that the address does not name would be kept. */
const noRange = { range: undefined, from: undefined, to: undefined, zone: undefined }
