import { useNavigate, useSearch } from '@tanstack/react-router'
import { Badge } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import type { Setting } from './queries.ts'
import type { SettingsSearch } from './search.ts'
import styles from './page.module.css'

const text = words.settings

/** The settings that differ from their default, or all. The address holds the filter. */
export function SettingsTable({ settings }: { readonly settings: readonly Setting[] }) {
  const { search, defaults }: SettingsSearch = useSearch({ from: '/settings' })
  const navigate = useNavigate({ from: '/settings' })
  const set = (changed: SettingsSearch): void =>
    void navigate({ to: '/settings', search: (before) => ({ ...before, ...changed }), replace: true })
  const rows = settings.filter(
    (setting) => (defaults || setting.origin !== 'default') && (search === undefined || matches(setting, search)),
  )
  return (
    <Card title={text.settings} note={text.shown(rows.length, settings.length)} isFlush>
      <div className={styles.bar}>
        <input
          type="search"
          aria-label={text.filter}
          placeholder={text.filter}
          value={search ?? ''}
          onChange={(event) => set({ search: event.target.value || undefined })}
        />
        <label>
          <input
            type="checkbox"
            checked={defaults ?? false}
            onChange={(event) => set({ defaults: event.target.checked || undefined })}
          />
          {text.withDefaults}
        </label>
      </div>
      {rows.length > 0 && <DataTable label={text.settings} rows={rows} columns={columns} idOf={({ key }) => key} />}
      {rows.length === 0 && search !== undefined && (
        <EmptyState title={text.noMatch}>
          <p>{text.noMatchText}</p>
        </EmptyState>
      )}
      {rows.length === 0 && search === undefined && (
        <EmptyState title={text.noneChanged}>
          <p>{text.noneChangedText}</p>
          <CodeBlock code="GATEHOUSE_PORT=9000 npm start" />
        </EmptyState>
      )}
    </Card>
  )
}

const matches = ({ key, description }: Setting, search: string): boolean =>
  `${key} ${description}`.toLowerCase().includes(search.toLowerCase())

const columns: readonly DataColumn<Setting>[] = [
  { id: 'key', name: text.key, cell: ({ key }) => <code title={key}>{key}</code> },
  { id: 'value', name: text.value, cell: (setting) => <Value setting={setting} /> },
  {
    id: 'origin',
    name: text.origin,
    cell: ({ origin, variable, is_reloaded: isReloaded }) => (
      <span title={isReloaded ? text.reloaded : undefined}>
        {variable === null ? text.origins[origin] : <code>{variable}</code>}
      </span>
    ),
  },
  {
    id: 'description',
    name: text.description,
    priority: 3,
    cell: ({ description }) => <span className={styles.description}>{plain(description)}</span>,
  },
]

/** Descriptions have names in backquotes, as the reference shows them. */
const plain = (description: string): string => description.replaceAll('`', '')

function Value({ setting: { value, is_hidden: isHidden } }: { readonly setting: Setting }) {
  if (isHidden) return <Badge tone="none">{text.hidden}</Badge>
  if (value === null) return <span className={styles.purpose}>{text.unset}</span>
  const shown = Array.isArray(value) ? value.join(', ') || '[]' : String(value)
  return <span title={shown}>{shown}</span>
}
