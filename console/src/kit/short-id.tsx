import { CopyButton } from './copy-button.tsx'
import styles from './short-id.module.css'

const shownStart = 9
const shownEnd = 6

/** An id with its middle cut out. */
export const shortId = (id: string): string =>
  id.length > shownStart + shownEnd + 1 ? `${id.slice(0, shownStart)}…${id.slice(-shownEnd)}` : id

/** The name of an object; its id is shortened, if the name is not known. Other texts, such as the name of a team, stay whole. */
export const nameOr = (names: ReadonlyMap<string, string>, id: string): string =>
  names.get(id) ?? (/^[a-z]+_[0-9a-z]{26}$/.test(id) ? shortId(id) : id)

/** An id with its middle cut out; the whole is shown on hover and copied. */
export function ShortId({ id }: { readonly id: string }) {
  return (
    <span className={styles.id}>
      <span title={id}>{shortId(id)}</span>
      <CopyButton text={id} label={`Copy ${id}`} />
    </span>
  )
}
