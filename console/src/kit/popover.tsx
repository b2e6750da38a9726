import { Popover as Base } from '@base-ui/react/popover'
import type { ReactNode } from 'react'
import styles from './popover.module.css'

type PopoverProps = {
  /** The content of the button that opens it. */
  readonly trigger: ReactNode
  readonly triggerClass: string
  /** What is read out as the name of the dialog. */
  readonly label: string
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
  readonly align?: 'start' | 'end'
  readonly children: ReactNode
}

/** A button with a small dialog below it, which does not keep people from using the page. */
export function Popover({ trigger, triggerClass, label, isOpen, onOpen, align = 'end', children }: PopoverProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={onOpen}>
      <Base.Trigger className={triggerClass}>{trigger}</Base.Trigger>
      <Base.Portal>
        <Base.Positioner className={styles.positioner} align={align} sideOffset={4} collisionPadding={8}>
          <Base.Popup className={styles.popup} aria-label={label}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
