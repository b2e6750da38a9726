import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { loadContent, useSentRequest } from './queries.ts'
import { restore, type Restored } from './restore.ts'
import styles from './page.module.css'

const text = words.playground.again

type CopyProps = {
  readonly requestId: string
  /** What was loaded already. */
  readonly restored: Restored | undefined
  /** What the form cannot choose, because it is no longer offered. */
  readonly gone: readonly string[]
  readonly onLoaded: (restored: Restored) => void
  readonly onClose: () => void
}

/** A request of the log that is sent again: offers its texts, then says what could not be restored. */
export function CopyNotice({ requestId, restored, gone, onLoaded, onClose }: CopyProps) {
  const mayRead = useMay('audit:read')
  const { data } = useSentRequest(mayRead && restored === undefined ? requestId : undefined)
  const missing = [...(restored?.losses.map((loss) => text.losses[loss]) ?? []), ...gone]
  const isKept = data?.is_content_kept !== false
  return (
    <>
      <Notice tone={missing.length > 0 ? 'warning' : 'none'}>
        <Link to="/requests/$requestId" params={{ requestId }}>
          {text.request}
        </Link>
        {restored ? text.restored : text.settings} {restored === undefined && !isKept && text.notKept}
        {missing.length > 0 && (
          <>
            {' '}
            {text.missing} {missing.join(' ')}
          </>
        )}
        {restored === undefined && isKept && <LoadButton requestId={requestId} onLoaded={onLoaded} />}
        <span className={styles.actions}>
          <Button isSmall look="ghost" onClick={onClose}>
            {restored === undefined ? text.dismiss : words.common.close}
          </Button>
        </span>
      </Notice>
    </>
  )
}

type LoadProps = Pick<CopyProps, 'requestId' | 'onLoaded'>

/** The texts are not loaded without asking, because the audit log records each read. */
function LoadButton({ requestId, onLoaded }: LoadProps) {
  const mayLoad = useMay('content:read')
  const load = useMutation({
    mutationFn: () => loadContent(requestId),
    onSuccess: (content) => content && onLoaded(restore(content)),
    retry: false,
  })
  if (!mayLoad) return <> {text.mayNotLoad}</>
  if (load.isError) return <ErrorNotice error={load.error} />
  return (
    <>
      {' '}
      {load.data === null ? text.notKept : text.recorded}
      <span className={styles.actions}>
        <Button isSmall disabled={load.isPending} onClick={() => load.mutate()}>
          {text.load}
        </Button>
      </span>
    </>
  )
}
