import { useBlocker } from '@tanstack/react-router'
import { words } from '../words/en.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

type LeaveProps = {
  readonly isChanged: boolean
  /** Addresses that begin with this path keep the changes. */
  readonly path: string
}

const text = words.common.leaving

/** Asks before unsaved changes are lost: by a link, the back button, a reload or a closed tab. */
export function LeaveDialog({ isChanged, path }: LeaveProps) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ next }) => isChanged && !next.pathname.startsWith(path),
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  })
  if (status !== 'blocked') return null
  return (
    <Dialog
      title={text.title}
      onClose={reset}
      actions={
        <>
          <Button onClick={reset}>{text.stay}</Button>
          <Button look="danger" onClick={proceed}>
            {text.leave}
          </Button>
        </>
      }
    >
      <p>{text.text}</p>
    </Dialog>
  )
}
