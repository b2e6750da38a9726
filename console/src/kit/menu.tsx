import { Menu as Base } from '@base-ui/react/menu'
import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'
import styles from './menu.module.css'

type MenuProps = {
  /** The content of the button that opens the menu. */
  readonly trigger: ReactNode
  readonly triggerClass: string
  readonly label?: string
  readonly align?: 'start' | 'end'
  readonly children: ReactNode
}

/** A button with a menu of actions and choices. */
export function Menu({ trigger, triggerClass, label, align = 'end', children }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger className={triggerClass} {...(label !== undefined && { 'aria-label': label, title: label })}>
        {trigger}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className={styles.positioner} align={align} sideOffset={4}>
          <Base.Popup className={styles.popup}>{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

type ChoiceProps<Value extends string> = {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [value: Value, name: string])[]
  readonly onChange: (value: Value) => void
}

/** A group of the menu of which one is chosen. */
export function MenuChoice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <Base.RadioGroup value={value} onValueChange={(chosen) => onChange(chosen as Value)}>
      <Base.Group>
        <Base.GroupLabel className={styles.label}>{label}</Base.GroupLabel>
        {options.map(([option, name]) => (
          <Base.RadioItem key={option} className={styles.item} value={option} closeOnClick>
            <span className={styles.mark}>
              <Base.RadioItemIndicator>
                <Icon name="check" size={14} />
              </Base.RadioItemIndicator>
            </span>
            {name}
          </Base.RadioItem>
        ))}
      </Base.Group>
    </Base.RadioGroup>
  )
}

type ToggleProps = { readonly isOn: boolean; readonly onChange: (isOn: boolean) => void; readonly children: ReactNode }

export function MenuToggle({ isOn, onChange, children }: ToggleProps) {
  return (
    <Base.CheckboxItem className={styles.item} checked={isOn} onCheckedChange={onChange}>
      <span className={styles.mark}>
        <Base.CheckboxItemIndicator>
          <Icon name="check" size={14} />
        </Base.CheckboxItemIndicator>
      </span>
      {children}
    </Base.CheckboxItem>
  )
}

export function MenuItem({ onClick, children }: { readonly onClick: () => void; readonly children: ReactNode }) {
  return (
    <Base.Item className={styles.item} onClick={onClick}>
      {children}
    </Base.Item>
  )
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return <div className={styles.label}>{children}</div>
}

export const MenuSeparator = () => <Base.Separator className={styles.separator} />
