import { useMutation } from '@tanstack/react-query'
import { useMay } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { loadPrompt } from './queries.ts'
import styles from './page.module.css'

const text = words.playground

type CopyProps = {
  readonly requestId: string
  readonly onLoaded: (text: string) => void
  readonly onClose: () => void
}

/** Offers the kept text of a request. It is not loaded without asking, because the audit log records each read. */
export function CopyNotice({ requestId, onLoaded, onClose }: CopyProps) {
  const mayRead = useMay('content:read')
  const load = useMutation({
    mutationFn: () => loadPrompt(requestId),
    onSuccess: (prompt) => (prompt === undefined ? onClose() : onLoaded(prompt)),
    retry: false,
  })
  return (
    <>
      <Notice tone="none">
        {mayRead ? text.copyText : text.mayNotCopy}{' '}
        <span className={styles.actions}>
          {mayRead && (
            <Button isSmall disabled={load.isPending} onClick={() => load.mutate()}>
              {text.copyLoad}
            </Button>
          )}
          <Button isSmall look="ghost" onClick={onClose}>
            {text.copyDismiss}
          </Button>
        </span>
      </Notice>
      {load.isError && <ErrorNotice error={load.error} />}
    </>
  )
}
