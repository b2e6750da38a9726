import { useNavigate } from '@tanstack/react-router'
import { useState, type SubmitEvent } from 'react'
import { readPreferences, setPreferences, type RequestView } from '../../session/preferences.ts'
import { useTimeRangeSearch } from '../../session/time-range.ts'
import { Button, buttonClass } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Field } from '../../kit/field.tsx'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../../kit/menu.tsx'
import { words } from '../../words/en.ts'
import type { RequestSearch } from './search.ts'

const text = words.requests.views

/** Named filters, columns and ranges. This browser keeps them; the address of a view works in any browser. */
export function ViewsMenu({ search }: { readonly search: RequestSearch }) {
  const [views, setViews] = useState(() => readPreferences().requestViews)
  const [isNaming, setNaming] = useState(false)
  const chosenRange = useTimeRangeSearch()
  const navigate = useNavigate()
  const shown = definedOf({ ...search, ...chosenRange })
  const current = views.find((view) => isSame(view.search, shown))
  const keep = (kept: readonly RequestView[]): void => setViews(setPreferences({ requestViews: kept }).requestViews)
  const save = (name: string): void => {
    keep([...views.filter((view) => view.name !== name), { name, search: shown }])
    setNaming(false)
  }
  return (
    <>
      <Menu
        align="start"
        triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
        trigger={current?.name ?? text.label}
        label={current === undefined ? text.label : text.current(current.name)}
      >
        <MenuLabel>{text.label}</MenuLabel>
        {views.map(({ name, search: kept }) => (
          <MenuItem key={name} onClick={() => void navigate({ to: '/requests', search: { ...noRange, ...kept } })}>
            {name}
          </MenuItem>
        ))}
        {views.length > 0 && <MenuSeparator />}
        <MenuItem onClick={() => setNaming(true)}>{text.save}</MenuItem>
        {current && (
          <MenuItem onClick={() => keep(views.filter((view) => view !== current))}>
            {text.forget(current.name)}
          </MenuItem>
        )}
      </Menu>
      {isNaming && <NameDialog onSave={save} onClose={() => setNaming(false)} />}
    </>
  )
}

type NameProps = { readonly onSave: (name: string) => void; readonly onClose: () => void }

function NameDialog({ onSave, onClose }: NameProps) {
  const [name, setName] = useState('')
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (name.trim() !== '') onSave(name.trim())
  }
  return (
    <Dialog
      title={text.save}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button look="primary" type="submit" form="request-view" disabled={name.trim() === ''}>
            {words.common.save}
          </Button>
        </>
      }
    >
      <form id="request-view" onSubmit={submit}>
        <Field label={text.name} hint={text.hint}>
          {(input) => (
            <input {...input} maxLength={60} value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
      </form>
    </Dialog>
  )
}

/** Ends the range of the page. One that the address does not name would be kept. */
const noRange = { range: undefined, from: undefined, to: undefined }

type Kept = RequestView['search']

const definedOf = (search: Readonly<Record<string, string | number | undefined>>): Kept =>
  Object.fromEntries(Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

const isSame = (one: Kept, other: Kept): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, value]) => other[name] === value)
