import { useState } from 'react'
import { Button, buttonClass } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Popover } from '../../kit/popover.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { words } from '../../words/en.ts'
import { filterFields, type FieldValue, type FilterField } from './search.ts'
import { openFields, type FilterOptions } from './use-filter-options.ts'
import styles from './add-filter.module.css'

const text = words.requests

type AddProps = { readonly options: FilterOptions; readonly onAdd: (filter: FieldValue) => void }

/** A field, then *is* or *is not*, then a value. */
export function AddFilter({ options, onAdd }: AddProps) {
  const [isOpen, setOpen] = useState(false)
  const [field, setField] = useState<FilterField>()
  const open = (isNowOpen: boolean): void => {
    setOpen(isNowOpen)
    setField(undefined)
  }
  return (
    <Popover
      isOpen={isOpen}
      onOpen={open}
      label={text.addFilter}
      align="start"
      triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
      trigger={
        <>
          <Icon name="plus" size={14} />
          {text.addFilter}
        </>
      }
    >
      {field === undefined ? (
        <ul className={styles.list} aria-label={text.fields}>
          {filterFields.map((each) => (
            <li key={each}>
              <button type="button" onClick={() => setField(each)}>
                {text.filters[each]}
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <ChooseValue
          field={field}
          options={options}
          onBack={() => setField(undefined)}
          onAdd={(filter) => {
            onAdd(filter)
            open(false)
          }}
        />
      )}
    </Popover>
  )
}

type ValueProps = AddProps & { readonly field: FilterField; readonly onBack: () => void }

const operators = ['is', 'isNot'] as const
/** Further ones are found by typing. */
const maxShown = 50

function ChooseValue({ field, options, onAdd, onBack }: ValueProps) {
  const [operator, setOperator] = useState<(typeof operators)[number]>('is')
  const [typed, setTyped] = useState('')
  const name = text.filters[field]
  const wanted = typed.trim().toLowerCase()
  const matching = options[field].filter((option) => option.name.toLowerCase().includes(wanted)).slice(0, maxShown)
  const add = (value: string): void => onAdd({ field, isNot: operator === 'isNot', value })
  const isUsable = wanted !== '' && openFields.has(field) && !matching.some((option) => option.name === typed.trim())
  return (
    <div className={styles.choose}>
      <div className={styles.head}>
        <Button look="ghost" isSmall onClick={onBack}>
          {text.back}
        </Button>
        <b>{name}</b>
        <Segmented
          label={text.operator}
          options={operators}
          nameOf={(each) => text[each]}
          value={operator}
          onChange={setOperator}
        />
      </div>
      <input
        className={styles.search}
        aria-label={text.searchValues(name)}
        placeholder={text.searchValues(name)}
        value={typed}
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
      />
      <ul className={styles.list} aria-label={name}>
        {matching.map((option) => (
          <li key={option.value}>
            <button type="button" onClick={() => add(option.value)}>
              {option.name}
            </button>
          </li>
        ))}
        {isUsable && (
          <li>
            <button type="button" onClick={() => add(typed.trim())}>
              {text.useTyped(typed.trim())}
            </button>
          </li>
        )}
      </ul>
      {matching.length === 0 && !isUsable && <p className={styles.note}>{text.noValues}</p>}
    </div>
  )
}
