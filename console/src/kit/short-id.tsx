import { CopyButton } from './copy-button.tsx'
import styles from './short-id.module.css'

const shownStart = 9
const shownEnd = 6

/** An id in the middle cut out; the whole is shown on hover and copied. */
export function ShortId({ id }: { readonly id: string }) {
  const isCut = id.length > shownStart + shownEnd + 1
  return (
    <span className={styles.id}>
      <span title={id}>{isCut ? `${id.slice(0, shownStart)}…${id.slice(-shownEnd)}` : id}</span>
      <CopyButton text={id} label={`Copy ${id}`} />
    </span>
  )
}
