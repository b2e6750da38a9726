import { serverUrl } from '../api/client.ts'
import { buttonClass } from '../kit/button.tsx'
import { Icon } from '../kit/icon.tsx'
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../kit/menu.tsx'
import { words } from '../words/en.ts'
import { densities, setPreferences, themes, useLook } from '../session/preferences.ts'
import { leave, useMe } from '../session/session.tsx'
import styles from './menus.module.css'

const text = words.shell

export function PreferencesMenu() {
  const { theme: chosenTheme, density: chosenDensity } = useLook()
  return (
    <Menu
      trigger={<Icon name="theme" />}
      triggerClass={`${buttonClass({ look: 'ghost' })} ${styles.square}`}
      label={text.theme.label}
    >
      <MenuChoice
        label={text.theme.label}
        value={chosenTheme}
        options={themes.map((theme) => [theme, text.theme[theme]])}
        onChange={(theme) => setPreferences({ theme })}
      />
      <MenuSeparator />
      <MenuChoice
        label={text.density.label}
        value={chosenDensity}
        options={densities.map((density) => [density, text.density[density]])}
        onChange={(density) => setPreferences({ density })}
      />
    </Menu>
  )
}

export function AccountMenu() {
  const { actor } = useMe()
  const name = actor.name ?? actor.id
  return (
    <Menu
      align="start"
      triggerClass={styles.account ?? ''}
      trigger={
        <>
          <span className={styles.avatar} aria-hidden="true">
            {initialsOf(name)}
          </span>
          <span className={styles.name}>{name}</span>
        </>
      }
    >
      <MenuLabel>
        {text.signedInAs} {actor.id}
      </MenuLabel>
      <MenuItem onClick={() => window.open(`${serverUrl}/docs`, '_blank', 'noopener')}>{text.reference}</MenuItem>
      <MenuSeparator />
      <MenuItem onClick={leave}>
        <Icon name="signOut" size={14} />
        {text.signOut}
      </MenuItem>
    </Menu>
  )
}

const initialsOf = (name: string): string =>
  name
    .split(/[\s_-]+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join('')
