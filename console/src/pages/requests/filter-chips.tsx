import { Chip } from '../../kit/chip.tsx'
import { words } from '../../words/en.ts'
import { filtersIn, minimumsIn, switching, withFilter, type Filter, type RequestSearch } from './search.ts'
import { nameOfValue, type FilterOptions } from './use-filter-options.ts'

const text = words.requests

type ChipsProps = {
  readonly search: RequestSearch
  readonly options: FilterOptions
  readonly onChange: (changed: RequestSearch) => void
}

/** The filters of the address, with names in place of ids. */
export function FilterChips({ search, options, onChange }: ChipsProps) {
  const removeLabel = (name: string): string => `${text.removeFilter}: ${name}`
  const operatorOf = (filter: Filter) => {
    const [shown, other] = filter.isNot ? [text.isNot, text.is] : [text.is, text.isNot]
    const label = text.switchTo(text.filters[filter.field], other)
    return { text: shown, label, onSwitch: () => onChange(switching(search, filter)) }
  }
  return (
    <>
      {search.q !== undefined && (
        <Chip
          name={text.search}
          value={String(search.q)}
          removeLabel={removeLabel(text.search)}
          onRemove={() => onChange({ q: undefined })}
        />
      )}
      {filtersIn(search).map((filter) => (
        <Chip
          key={`${filter.field} ${String(filter.isNot)}`}
          name={text.filters[filter.field]}
          operator={operatorOf(filter)}
          value={filter.values.map((value) => nameOfValue(options, filter.field, value)).join(', ')}
          removeLabel={removeLabel(text.filters[filter.field])}
          onRemove={() => onChange(withFilter({ ...filter, values: [] }))}
        />
      ))}
      {minimumsIn(search).map(([name, value]) => (
        <Chip
          key={name}
          name={text.filters[name]}
          value={String(value)}
          removeLabel={removeLabel(text.filters[name])}
          onRemove={() => onChange({ [name]: undefined })}
        />
      ))}
    </>
  )
}
