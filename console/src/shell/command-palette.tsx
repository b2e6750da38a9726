import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { Icon } from '../kit/icon.tsx'
import { words } from '../words/en.ts'
import styles from './command-palette.module.css'

const CommandSearch = lazy(async () => ({ default: (await import('./command-search.tsx')).CommandSearch }))

/** The search button and its dialog: pages, names, actions, and any id. Opens with Ctrl K on every page. */
export function CommandPalette({ isEnabled }: { readonly isEnabled: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setOpen((open) => !open)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen])
  return (
    <>
      <button
        type="button"
        className={styles.search}
        disabled={!isEnabled}
        onClick={() => setOpen(true)}
        aria-haspopup="dialog"
      >
        <Icon name="search" size={14} />
        <span>{words.shell.search}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <dialog
        ref={dialog}
        className={styles.dialog}
        aria-label={words.shell.search}
        onClose={() => setOpen(false)}
        onClick={(event) => event.target === dialog.current && setOpen(false)}
      >
        {isOpen && isEnabled && (
          <Suspense>
            <CommandSearch onDone={() => setOpen(false)} />
          </Suspense>
        )}
      </dialog>
    </>
  )
}
