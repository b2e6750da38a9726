import { useState } from 'react'
import { words } from '../words/en.ts'
import { CodeBlock } from './code-block.tsx'
import { curlOf, type Call } from './curl.ts'
import styles from './command-preview.module.css'

type PreviewProps = {
  readonly call: Call & { readonly command?: string | undefined }
  /** The request that follows. The command does both. */
  readonly next?: Call | undefined
}

/** The request that a form sends, to copy as curl and as a command. */
export function CommandPreview({ call, next }: PreviewProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className={styles.preview} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words.common.asRequest}</summary>
      {isOpen && (
        <div className={styles.blocks}>
          <CodeBlock code={curlOf(call)} />
          {next !== undefined && <CodeBlock code={curlOf(next)} />}
          {call.command !== undefined && <CodeBlock code={call.command} />}
        </div>
      )}
    </details>
  )
}
