import { useNavigate } from '@tanstack/react-router'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import { buttonClass, Button } from '../../kit/button.tsx'
import { ExportMenu } from '../../kit/export-menu.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu, MenuLabel, MenuToggle } from '../../kit/menu.tsx'
import { words } from '../../words/en.ts'
import { AddFilter } from './add-filter.tsx'
import { chosenColumns, columns } from './columns.tsx'
import { FilterChips } from './filter-chips.tsx'
import { FilterInput } from './filter-input.tsx'
import { addingValue, filtersOf, type RequestSearch } from './search.ts'
import type { FilterOptions } from './use-filter-options.ts'
import { ViewsMenu } from './views-menu.tsx'
import styles from './filter-bar.module.css'

type BarProps = {
  readonly search: RequestSearch
  readonly options: FilterOptions
  readonly onReload: () => void
  /** Requests that came since the list was loaded. They are shown when somebody asks for them. */
  readonly newCount: number
}

const text = words.requests

/** The filters in the address as chips, and the menus that add filters and choose columns. */
export function FilterBar({ search, options, onReload, newCount }: BarProps) {
  const navigate = useNavigate()
  const set = (changed: RequestSearch): void =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...changed }), replace: true })
  const { from, to } = timeRangeOf(useTimeRangeSearch(), Date.now())
  return (
    <div className={styles.bar}>
      <ViewsMenu search={search} />
      <FilterChips search={search} options={options} onChange={set} />
      <AddFilter options={options} onAdd={(filter) => set(addingValue(search, filter))} />
      <FilterInput search={search} options={options} onChange={set} />
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
        <ExportMenu path="/v1/organization/requests/export" query={{ ...filtersOf(search), from, to }} />
        <ColumnsMenu chosen={search.columns} onChange={set} />
      </span>
    </div>
  )
}

type ColumnsProps = {
  readonly chosen: RequestSearch['columns']
  readonly onChange: (changed: RequestSearch) => void
}

function ColumnsMenu({ chosen, onChange }: ColumnsProps) {
  const shown = new Set(chosenColumns(chosen).map(({ id }) => id))
  const toggle = (id: string, isOn: boolean): void => {
    const ids = columns.flatMap((column) => ((column.id === id ? isOn : shown.has(column.id)) ? [column.id] : []))
    onChange({ columns: ids.length === columns.length ? undefined : ids.join(',') })
  }
  return (
    <Menu
      triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
      label={text.columns}
      trigger={<Icon name="columns" size={14} />}
    >
      <MenuLabel>{text.columns}</MenuLabel>
      {columns
        .filter(({ id }) => id !== 'time')
        .map(({ id, name }) => (
          <MenuToggle key={id} isOn={shown.has(id)} onChange={(isOn) => toggle(id, isOn)}>
            {name}
          </MenuToggle>
        ))}
    </Menu>
  )
}
