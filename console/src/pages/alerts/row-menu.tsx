import { useNavigate } from '@tanstack/react-router'
import { buttonClass } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { words } from '../../words/en.ts'
import type { DialogName } from './search.ts'

type MenuProps = {
  readonly id: string
  readonly name: string
  /** Each opens a dialog, whose name is in the address. */
  readonly items: readonly DialogName[]
}

/** What can be done with a row. */
export function RowMenu({ id, name, items }: MenuProps) {
  const navigate = useNavigate({ from: '/alerts' })
  return (
    <Menu
      label={words.alerts.actionsOf(name)}
      triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
      trigger={<Icon name="more" size={14} />}
    >
      {items.map((dialog) => (
        <MenuItem
          key={dialog}
          onClick={() => void navigate({ to: '/alerts', search: (before) => ({ ...before, dialog, id }) })}
        >
          {words.alerts.verbs[dialog]}
        </MenuItem>
      ))}
    </Menu>
  )
}
