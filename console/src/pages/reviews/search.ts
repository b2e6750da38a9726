import { searchText } from '../../session/search-text.ts'

/** What the address of the page holds: the filter, and the appeal that is open. */
export type ReviewsSearch = { readonly show?: 'all' | undefined; readonly appeal?: string | undefined }

export function readReviewsSearch(search: Record<string, unknown>): ReviewsSearch {
  return { show: search['show'] === 'all' ? 'all' : undefined, appeal: searchText(search['appeal']) }
}
