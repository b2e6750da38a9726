import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Names } from '../../api/names.ts'
import { Button } from '../../kit/button.tsx'
import { words } from '../../words/en.ts'
import { statusesOf, type ProjectsSearch, type Tab } from './search.ts'
import styles from './toolbar.module.css'

const text = words.projects

type BarProps = {
  readonly tab: Tab
  readonly search: ProjectsSearch
  readonly projects: Names
  /** The permission that creating needs, and whether the signed-in administrator has it. */
  readonly permission: string
  readonly mayChange: boolean
}

/** The filters of a list, and the button that adds to it. */
export function Toolbar({ tab, search, projects, permission, mayChange }: BarProps) {
  const navigate = useNavigate({ from: '/projects' })
  const set = (changed: ProjectsSearch): void =>
    void navigate({ to: '/projects', search: (before) => ({ ...before, ...changed }), replace: true })
  return (
    <div className={styles.bar}>
      <NameFilter value={search.search} onChange={(value) => set({ search: value })} />
      {tab === 'keys' && (
        <select
          aria-label={text.project}
          value={search.project_id ?? ''}
          onChange={(event) => set({ project_id: event.target.value || undefined })}
        >
          <option value="">{text.allProjects}</option>
          {[...withChosen(projects, search.project_id)].map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      <select
        aria-label={text.status}
        value={search.status ?? ''}
        onChange={(event) => set({ status: statusesOf[tab].find((each) => each === event.target.value) })}
      >
        <option value="">{tab === 'projects' ? text.anyStatus.projects : text.anyStatus.keys}</option>
        {statusesOf[tab].map((status) => (
          <option key={status} value={status}>
            {text.statuses[status]}
          </option>
        ))}
      </select>
      <Button
        look="primary"
        icon="plus"
        className={styles.create ?? ''}
        disabled={!mayChange}
        title={mayChange ? undefined : text.lacks(permission)}
        onClick={() => set({ dialog: 'create' })}
      >
        {createText[tab]}
      </Button>
    </div>
  )
}

export const createText = {
  keys: text.createKey,
  projects: text.createProject,
  administrators: text.createAdminKey,
} as const satisfies Record<Tab, string>

/** The project of the address can be one of those that were not loaded. */
const withChosen = (projects: Names, chosen: string | undefined): Names =>
  chosen === undefined || projects.has(chosen) ? projects : new Map([...projects, [chosen, chosen]])

const typingMs = 200

type NameProps = { readonly value: string | undefined; readonly onChange: (value: string | undefined) => void }

function NameFilter({ value, onChange }: NameProps) {
  const [typed, setTyped] = useState(value ?? '')
  useEffect(() => setTyped(value ?? ''), [value])
  useEffect(() => {
    if (typed === (value ?? '')) return undefined
    const timer = setTimeout(() => onChange(typed === '' ? undefined : typed), typingMs)
    return () => clearTimeout(timer)
  }, [typed, value, onChange])
  return (
    <input
      type="search"
      aria-label={text.search}
      placeholder={text.search}
      value={typed}
      spellCheck={false}
      onChange={(event) => setTyped(event.target.value)}
    />
  )
}
