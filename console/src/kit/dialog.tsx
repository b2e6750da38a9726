import { useEffect, useId, useRef, type ReactNode } from 'react'
import { words } from '../words/en.ts'
import { IconButton } from './button.tsx'
import styles from './dialog.module.css'

type DialogProps = {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** Buttons, the primary one last. */
  readonly actions?: ReactNode
  readonly isWide?: boolean
}

/**
 * A modal dialog. It is open as long as it is rendered. The first field of its body has the focus, without `autoFocus`,
 * which would hide from the dialog where the focus was. It returns there.
 */
export function Dialog({ title, onClose, children, actions, isWide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const titleId = useId()
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    body.current?.querySelector<HTMLElement>('input, select, textarea')?.focus()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      data-wide={isWide}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        <IconButton isSmall icon="close" label={words.common.close} onClick={onClose} />
      </header>
      <div ref={body} className={styles.body}>
        {children}
      </div>
      {actions && <footer>{actions}</footer>}
    </dialog>
  )
}
