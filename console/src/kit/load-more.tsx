import type { ListQuery } from '../api/use-list.ts'
import { words } from '../words/en.ts'
import { Button } from './button.tsx'
import styles from './load-more.module.css'

type LoadMoreProps = {
  readonly query: Pick<ListQuery<unknown>, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>
}

/** Below a list that has further pages. */
export function LoadMore({ query }: LoadMoreProps) {
  if (!query.hasNextPage) return null
  return (
    <div className={styles.more}>
      <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {words.common.loadMore}
      </Button>
    </div>
  )
}
