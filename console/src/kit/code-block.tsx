import { CopyButton } from './copy-button.tsx'
import styles from './code-block.module.css'

/** A command or a piece of code, to copy. */
export function CodeBlock({ code }: { readonly code: string }) {
  return (
    <div className={styles.block}>
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
      <CopyButton text={code} />
    </div>
  )
}
