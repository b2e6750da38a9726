import { useNavigate } from '@tanstack/react-router'
import { buttonClass } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { words } from '../../words/en.ts'
import type { DialogName } from './search.ts'

const text = words.projects

type ActionsProps = {
  readonly id: string
  readonly name: string
  /** Each opens a dialog, whose name is in the address. */
  readonly items: readonly (readonly [dialog: DialogName, name: string])[]
  /** The filter that shows the requests of the object, if it has any. */
  readonly requests?: { readonly api_key_id?: string; readonly project_id?: string } | undefined
  /** The project whose keys can be listed. */
  readonly keysOf?: string | undefined
}

/** What can be done with a row. */
export function RowActions({ id, name, items, requests, keysOf }: ActionsProps) {
  const navigate = useNavigate({ from: '/projects' })
  if (items.length === 0 && requests === undefined && keysOf === undefined) return null
  return (
    <Menu
      label={text.actionsOf(name)}
      triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
      trigger={<Icon name="more" size={14} />}
    >
      {items.map(([dialog, label]) => (
        <MenuItem
          key={dialog}
          onClick={() => void navigate({ to: '/projects', search: (before) => ({ ...before, dialog, id }) })}
        >
          {label}
        </MenuItem>
      ))}
      {keysOf !== undefined && (
        <MenuItem onClick={() => void navigate({ to: '/projects', search: { project_id: keysOf } })}>
          {text.showKeys}
        </MenuItem>
      )}
      {requests !== undefined && (
        <MenuItem onClick={() => void navigate({ to: '/requests', search: requests })}>{text.showRequests}</MenuItem>
      )}
    </Menu>
  )
}
