import { useNavigate } from '@tanstack/react-router'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import { buttonClass, Button } from '../../kit/button.tsx'
import { Chip } from '../../kit/chip.tsx'
import { decisionName } from '../../kit/decision-badge.tsx'
import { ExportMenu } from '../../kit/export-menu.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu, MenuChoice, MenuLabel, MenuSeparator, MenuToggle } from '../../kit/menu.tsx'
import { words } from '../../words/en.ts'
import { chosenColumns, columns, type ColumnNames } from './columns.tsx'
import { FilterInput } from './filter-input.tsx'
import { filtersOf, type FilterName, type RequestSearch } from './search.ts'
import { ViewsMenu } from './views-menu.tsx'
import styles from './filter-bar.module.css'

type BarProps = {
  readonly search: RequestSearch
  readonly names: ColumnNames
  readonly onReload: () => void
  /** Requests that came since the list was loaded. They are shown when somebody asks for them. */
  readonly newCount: number
}

const text = words.requests

/** The filters in the address as chips, and the menus that add filters and choose columns. */
export function FilterBar({ search, names, onReload, newCount }: BarProps) {
  const navigate = useNavigate()
  const set = (changed: RequestSearch): void =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...changed }), replace: true })
  const { from, to } = timeRangeOf(useTimeRangeSearch(), Date.now())
  const period = { from, to }
  const filters = Object.entries(filtersOf(search)) as [FilterName, string | number][]
  const shown = new Set(chosenColumns(search.columns).map(({ id }) => id))
  const toggleColumn = (id: string, isOn: boolean): void => {
    const ids = columns.flatMap((column) => ((column.id === id ? isOn : shown.has(column.id)) ? [column.id] : []))
    set({ columns: ids.length === columns.length ? undefined : ids.join(',') })
  }
  return (
    <div className={styles.bar}>
      <ViewsMenu search={search} />
      {filters.map(([name, value]) => (
        <Chip
          key={name}
          name={text.filters[name]}
          value={valueText(name, value, names)}
          removeLabel={`${text.removeFilter}: ${text.filters[name]}`}
          onRemove={() => set({ [name]: undefined })}
        />
      ))}
      <Menu
        align="start"
        triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
        trigger={
          <>
            <Icon name="plus" size={14} />
            {text.addFilter}
          </>
        }
      >
        <MenuChoice
          label={text.decision}
          value={String(search.decision ?? '')}
          options={decisions.map((decision) => [decision, decisionName(decision)])}
          onChange={(decision) => set({ decision })}
        />
        <MenuSeparator />
        <MenuChoice
          label={text.status}
          value={String(search.status ?? '')}
          options={statuses.map((status) => [status, text.statuses[status]])}
          onChange={(status) => set({ status })}
        />
        {names.projects.size > 0 && (
          <>
            <MenuSeparator />
            <MenuChoice
              label={text.project}
              value={String(search.project_id ?? '')}
              options={[...names.projects]}
              onChange={(project) => set({ project_id: project })}
            />
          </>
        )}
      </Menu>
      <FilterInput onFilter={(name, value) => set({ [name]: value })} />
      <span className={styles.end}>
        {newCount === 0 ? (
          <Button look="ghost" isSmall onClick={onReload}>
            {text.reload}
          </Button>
        ) : (
          <Button isSmall icon="up" className={styles.fresh} onClick={onReload}>
            {text.fresh(newCount)}
          </Button>
        )}
        <ExportMenu path="/v1/organization/requests/export" query={{ ...filtersOf(search), ...period }} />
        <Menu
          triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
          label={text.columns}
          trigger={<Icon name="columns" size={14} />}
        >
          <MenuLabel>{text.columns}</MenuLabel>
          {columns
            .filter(({ id }) => id !== 'time')
            .map(({ id, name }) => (
              <MenuToggle key={id} isOn={shown.has(id)} onChange={(isOn) => toggleColumn(id, isOn)}>
                {name}
              </MenuToggle>
            ))}
        </Menu>
      </span>
    </div>
  )
}

const decisions = ['allow', 'redact', 'rewrite', 'summary', 'escalate', 'refuse', 'not_evaluated'] as const
const statuses = ['ok', 'denied', 'error'] as const

function valueText(name: FilterName, value: string | number, { projects, keys }: ColumnNames): string {
  if (name === 'decision') return decisionName(String(value))
  if (name === 'project_id') return projects.get(String(value)) ?? String(value)
  if (name === 'api_key_id') return keys.get(String(value)) ?? String(value)
  if (name === 'status') return statusText(String(value))
  return String(value)
}

const statusText = (value: string): string => {
  const status = statuses.find((each) => each === value)
  return status === undefined ? value : text.statuses[status]
}
