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

/** The element that had the focus last. Items of a menu are left out, because they are gone when the focus returns. */
let lastFocused: HTMLElement | undefined
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLElement && target.closest('[role="menu"]') === null) lastFocused = target
})

/** Moves the focus to where it was before a dialog, or to the page if that element is gone. */
function returnFocus(before: HTMLElement | undefined): void {
  const target = before?.isConnected === true ? before : document.getElementById('page')
  target?.focus()
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
    const before = lastFocused
    dialog.current?.showModal()
    body.current?.querySelector<HTMLElement>('input, select, textarea')?.focus()
    return () => returnFocus(before)
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
      // Chromium closes a dialog at the second Escape without asking, unless the key itself is handled.
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return
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
