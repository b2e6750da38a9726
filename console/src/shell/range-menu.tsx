import { useNavigate } from '@tanstack/react-router'
import { buttonClass } from '../kit/button.tsx'
import { Icon } from '../kit/icon.tsx'
import { Menu, MenuChoice } from '../kit/menu.tsx'
import { words } from '../words/en.ts'
import { rangeNames, timeRangeOf, useTimeRangeSearch, type RangeName } from '../session/time-range.ts'
import styles from './range-menu.module.css'

/** The time range of all pages. */
export function RangeMenu() {
  const { name } = timeRangeOf(useTimeRangeSearch(), Date.now())
  const navigate = useNavigate()
  const choose = (range: RangeName | 'custom'): void => {
    if (range === 'custom') return
    void navigate({ to: '.', search: (before) => ({ ...before, range, from: undefined, to: undefined }) })
  }
  const options = rangeNames.map((range): [RangeName | 'custom', string] => [range, words.range[range]])
  return (
    <Menu
      triggerClass={buttonClass({ look: 'normal' })}
      trigger={
        <>
          <Icon name="clock" size={14} />
          <span className={styles.name}>{words.range[name]}</span>
          <Icon name="down" size={14} />
        </>
      }
    >
      <MenuChoice
        label={words.range.label}
        value={name}
        options={name === 'custom' ? [...options, ['custom', words.range.custom]] : options}
        onChange={choose}
      />
    </Menu>
  )
}
