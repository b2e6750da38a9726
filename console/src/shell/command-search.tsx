import { useNavigate } from '@tanstack/react-router'
import { useId, useState, type KeyboardEvent } from 'react'
import { Icon } from '../kit/icon.tsx'
import { useMe } from '../session/session.tsx'
import { words } from '../words/en.ts'
import { commandOfId, commandsFor, type Command } from './commands.ts'
import { useFoundNames } from './found-names.ts'
import styles from './command-palette.module.css'

/** The field of the search, and what it finds. */
export function CommandSearch({ onDone }: { readonly onDone: () => void }) {
  const [query, setQuery] = useState('')
  const [active, setActive] = useState(0)
  const listId = useId()
  const navigate = useNavigate()
  const { permissions } = useMe()
  const idCommand = commandOfId(query)
  const names = useFoundNames(idCommand === undefined ? query : '')
  const commands = idCommand === undefined ? [...names.commands, ...commandsFor(query, permissions)] : [idCommand]
  const run = (command: Command | undefined): void => {
    if (command === undefined) return
    onDone()
    if (typeof command.target === 'function') command.target()
    else void navigate(command.target)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setActive((active + step + commands.length) % Math.max(1, commands.length))
    else if (event.key === 'Enter') run(commands[active])
    else return
    event.preventDefault()
  }
  return (
    <div className={styles.palette}>
      <div className={styles.input}>
        <Icon name="search" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={commands.length > 0 ? `${listId}-${active}` : undefined}
          aria-label={words.shell.search}
          placeholder={words.shell.search}
          value={query}
          autoFocus
          spellCheck={false}
          onChange={(event) => {
            setQuery(event.target.value)
            setActive(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ul id={listId} role="listbox" aria-label={words.shell.results}>
        {commands.map((command, at) => (
          <li
            key={command.id}
            id={`${listId}-${at}`}
            role="option"
            aria-selected={at === active}
            onPointerMove={() => setActive(at)}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <span>{command.name}</span>
            <small>{command.hint}</small>
          </li>
        ))}
      </ul>
      {commands.length === 0 && (
        <p className={styles.none}>{names.isSearching ? words.shell.searching : words.shell.noResults}</p>
      )}
    </div>
  )
}
