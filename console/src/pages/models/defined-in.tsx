import { words } from '../../words/en.ts'
import type { CatalogueModel } from './queries.ts'
import styles from './page.module.css'

const text = words.models

/** The file and the key that define an entry, or the variable. */
export function DefinedIn({ at: { source, file, key } }: { readonly at: CatalogueModel['defined_in'] }) {
  if (source === 'built_in' || source === 'organization') return text.sources[source]
  return (
    <span className={styles.defined}>
      <span>{source === 'environment' ? text.sources.environment : file}</span> <code>{key}</code>
    </span>
  )
}
