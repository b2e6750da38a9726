import { useEffect, type RefObject } from 'react'
import type { RequestRow } from './queries.ts'

type RowKeys = {
  readonly rows: readonly RequestRow[]
  /** The request that was opened last; undefined if none is open. */
  readonly openId: RefObject<string | undefined>
  readonly onOpen: (row: RequestRow) => void
  readonly onClose: () => void
}

/** `j` and `k` open the next and the previous request, Escape closes the open one. */
export function useRowKeys({ rows, openId, onOpen, onClose }: RowKeys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const selectedId = openId.current
      if (event.key === 'Escape' && selectedId !== undefined && !event.defaultPrevented) return onClose()
      const step = { j: 1, k: -1 }[event.key]
      if (step === undefined) return
      const row = rows[nextIndex(rows, selectedId, step)]
      if (row) onOpen(row)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [rows, openId, onOpen, onClose])
}

function nextIndex(rows: readonly RequestRow[], selectedId: string | undefined, step: number): number {
  const at = rows.findIndex(({ id }) => id === selectedId)
  return at < 0 ? 0 : at + step
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest('input, textarea, select, dialog') !== null)
